"""What is registered and neither has a line in a table nor is named in a test: private functions,
mostly of C, that public ones call.

``pytest -p tests.rules.met`` says which of them some tests meet.
"""

REACHED = {
    "library/test_frames.py": {
        "numpy._core._multiarray_umath": "_array_converter",
        "pandas._libs.algos": "diff_2d ensure_int64 ensure_platform_int",
        "pandas._libs.arrays": """
            NDArrayBacked._dtype NDArrayBacked._from_backing_data NDArrayBacked._ndarray
        """,
        "pandas._libs.groupby": """
            group_cummax group_max group_min group_prod group_quantile group_sum
        """,
        "pandas._libs.index": "IndexEngine.get_indexer IndexEngine.get_loc",
        "pandas._libs.internals": """
            Block._mgr_locs Block.refs Block.slice_block_rows BlockManager._blklocs
            BlockManager._blknos BlockManager._dtypes_cache BlockManager._is_consolidated
            BlockManager._known_consolidated BlockManager._rebuild_blknos_and_blklocs
            BlockManager.get_slice BlockValuesRefs.add_index_reference
        """,
        "pandas._libs.lib": """
            is_all_arraylike is_int_or_none is_np_dtype is_pyarrow_array is_string_array
            item_from_zerodim map_infer maybe_convert_objects
        """,
        "pandas._libs.missing": "checknull",
        "pandas.api.types": "infer_dtype is_bool is_float is_iterator is_list_like is_scalar",
        "pandas.core.array_algos.take": "_take_nd_ndarray",
        "pandas.core.indexing": "_iLocIndexer",
        "pandas.core.internals.blocks": "DatetimeLikeBlock ExtensionBlock NumpyBlock",
        "weakref": "ReferenceType",
    },
    "library/test_library.py": {
        "builtins": "function_dtrtri",
        "numpy.lib._function_base_impl": "vectorize._vectorize_call",
        "pandas._libs.algos": """
            axis_skew backfill_2d_inplace backfill_inplace ensure_float64 ensure_int8 nancorr
            pad_2d_inplace scalar_fillna_inplace scalar_skew
        """,
        "pandas._libs.groupby": """
            group_cummin group_cumprod group_cumsum group_last group_mean group_median_float64
            group_nth group_rank group_var
        """,
        "pandas._libs.index": """
            BaseMultiIndexCodesEngine.get_indexer BaseMultiIndexCodesEngine.get_loc
        """,
        "pandas._libs.internals": "BlockValuesRefs.has_reference",
        "pandas._libs.lib": "is_bool_list map_infer_mask to_object_array to_object_array_tuples",
        "pandas._libs.missing": "isnaobj",
        "pandas._libs.ops_dispatch": "maybe_dispatch_ufunc_to_dunder_op",
        "pandas._libs.window.aggregations": """
            ewmcov roll_apply roll_first roll_mean roll_quantile roll_sum roll_var roll_weighted_sum
        """,
        "pandas.core.indexing": "_LocIndexer",
        "scipy.linalg.blas": "get_blas_funcs",
        "scipy.stats._continuous_distns": "genextreme_gen._logpdf",
    },
    "rules/scipy/test_blas.py": {
        "builtins": "function_dnrm2 function_dpotrs function_dswap function_dznrm2 function_snrm2",
    },
    "rules/scipy/test_distance.py": {
        "scipy.spatial._distance_pybind": """
            cdist_braycurtis cdist_canberra cdist_chebyshev cdist_cityblock cdist_euclidean
            cdist_minkowski cdist_sqeuclidean pdist_braycurtis pdist_canberra pdist_chebyshev
            pdist_cityblock pdist_euclidean pdist_minkowski pdist_sqeuclidean
        """,
        "scipy.spatial._distance_wrap": """
            cdist_seuclidean_double_wrap pdist_mahalanobis_double_wrap pdist_seuclidean_double_wrap
        """,
    },
    "rules/scipy/test_equations.py": {
        "scipy.optimize._minpack_py": "_lightweight_memoizer",
    },
    "rules/scipy/test_fft.py": {
        "scipy.fft._backend": "register_backend set_backend set_global_backend skip_backend",
    },
    "rules/scipy/test_integrate.py": {
        "scipy.integrate._quadpack": "_qagie _qagpe _qagse",
    },
    "rules/scipy/test_interpolate_scattered.py": {
        "scipy.interpolate._interpnd": "_ndim_coords_from_arrays",
    },
    "rules/scipy/test_interpolate_splines.py": {
        "scipy.interpolate._fitpack2": "_curfit",
        "builtins": "function_fpcurf0",
        "scipy.interpolate._dierckx": "_coloc evaluate_spline",
        "scipy.interpolate._rbfinterp_pythran": "_build_evaluation_coefficients _build_system",
    },
    "rules/scipy/test_isotonic.py": {
        "scipy.optimize._pava_pybind": "pava",
        "sklearn._isotonic": "_make_unique",
    },
    "rules/scipy/test_cluster.py": {
        "scipy.cluster._vq": "update_cluster_means",
        "scipy.cluster.vq._vq": "update_cluster_means",
    },
    "rules/scipy/test_lapack.py": {
        "builtins": """
            function_cgbsv function_dgbsv function_sgbsv function_zgbsv function_cgesv
            function_dgesv function_sgesv function_zgesv function_csysv function_dsysv
            function_ssysv function_zsysv
        """,
    },
    "rules/scipy/test_linalg_triangles.py": {
        "builtins": "function_dpotrf",
    },
    "rules/scipy/test_ndimage_filters.py": {
        "scipy.ndimage._nd_image": "fourier_filter min_or_max_filter1d",
    },
    "rules/scipy/test_rotations.py": {
        "scipy.spatial.transform._rotation_cy": "compose_quat",
    },
    "rules/scipy/test_signal_filtering.py": {
        "scipy.signal._peak_finding_utils": """
            _local_maxima_1d _peak_prominences _peak_widths _select_by_peak_distance
        """,
        "scipy.signal._sigtools": "_medfilt2d",
    },
    "rules/scipy/test_sparse_arrays.py": {
        "_csparsetools": "lil_flatten_to_array lil_get_lengths",
        "scipy.sparse._sparsetools": """
            bsr_minus_bsr bsr_tocsr bsr_transpose coo_matvec_nd coo_tocsr csr_column_index1
            csr_column_index2 csr_count_blocks csr_eliminate_zeros csr_elmul_csr
            csr_has_canonical_format csr_has_sorted_indices csr_matmat_maxnnz csr_maximum_csr
            csr_minus_csr csr_plus_csr csr_row_index csr_row_slice csr_sample_offsets
            csr_sort_indices csr_sum_duplicates csr_tocsc dia_matvecs dia_tocsr get_csr_submatrix
        """,
    },
    "rules/scipy/test_sparse_leaves.py": {
        "scipy.sparse._sparsetools": """
            bsr_eldiv_bsr bsr_elmul_bsr bsr_ge_bsr bsr_gt_bsr bsr_le_bsr bsr_lt_bsr bsr_maximum_bsr
            bsr_minimum_bsr bsr_ne_bsr bsr_scale_columns bsr_scale_rows bsr_sort_indices
            coo_matmat_dense_nd csr_eldiv_csr csr_ge_csr csr_gt_csr csr_hstack csr_le_csr csr_lt_csr
            csr_minimum_csr csr_ne_csr csr_scale_columns csr_scale_rows csr_tobsr
        """,
    },
    "rules/scipy/test_sparse_lists.py": {
        "_csparsetools": "lil_fancy_get lil_fancy_set lil_get1 lil_get_row_ranges lil_insert",
        "scipy.sparse._dok": "_dok_base._set_arrayXarray _dok_base._set_intXint",
        "scipy.sparse._lil": "_lil_base._mul_scalar",
    },
    "rules/scipy/test_stats.py": {
        "scipy.stats._stats": """
            gaussian_kernel_estimate[double] gaussian_kernel_estimate_log[double]
        """,
    },
    "rules/test_astropy.py": {
        "astropy.units.core": """
            CompositeUnit.is_unity Unit.is_unity UnitBase._is_equivalent UnitBase._to
            UnitBase.is_unity
        """,
    },
    "rules/test_bottleneck.py": {
        "bottleneck.move": "move_var",
        "pandas._libs.internals": "BlockValuesRefs.add_reference",
    },
    "rules/test_erfa.py": {
        "astropy.coordinates.angles.formats": "parse_angle",
    },
    "rules/test_moving.py": {
        "dataclasses": "_process_class",
    },
    "rules/test_pint.py": {
        "pint.facets.nonmultiplicative.registry": """
            GenericNonMultiplicativeRegistry.parse_units_as_container
        """,
        "pint.facets.plain.registry": "GenericPlainRegistry.parse_units",
    },
    "test_corpus.py": {
        "_collections": "_count_elements",
    },
    "test_threads.py": {
        "threading": "Semaphore.acquire",
    },
}
"""By file of tests under tests/ that meets them, and by module."""

UNSEEN = {
    "scipy.interpolate._fitpack2": "_regrid_smth",
    "_json": "Scanner",
    "astropy.units.core": """
        UnitBase.to_string UnrecognizedUnit._unrecognized_operator UnrecognizedUnit.is_unity
        UnrecognizedUnit.to_string
    """,
    "builtins": """
        function_cpotrf function_cpotrs function_cswap function_ctrtri function_fpcurf1
        function_fpcurfm1 function_regrid_smth function_scnrm2 function_spotrf function_spotrs
        function_sswap function_strtri function_zpotrf function_zpotrs function_zswap
        function_ztrtri str.__getnewargs__ str.__getstate__
    """,
    "mpmath.ctx_mp_python": "_mpf.__rdiv__",
    "mpmath.libmp.libmpf": "from_float from_npfloat to_float",
    "numpy": """
        fromregex genfromtxt printoptions savez_compressed
        setbufsize show_config show_runtime
    """,
    "numpy.lib._function_base_impl": "_parse_input_dimensions",
    "numpy.lib._stride_tricks_impl": "_broadcast_to",
    "numpy.random": "RandomState.random_integers",
    "numpy.random.mtrand": "RandomState.random_integers",
    "pandas": "Period",
    "pandas._libs.algos": """
        axis_kurt ensure_int16 ensure_int32 ensure_uint64 nancorr_spearman pad_inplace rank_1d
        rank_2d scalar_fillna_2d_inplace scalar_kurt
    """,
    "pandas._libs.groupby": "group_kurt group_ohlc group_skew",
    "pandas._libs.index": """
        BaseMultiIndexCodesEngine.get_indexer_non_unique DatetimeEngine.get_loc
        IndexEngine.get_indexer_non_unique MaskedIndexEngine.get_indexer
        MaskedIndexEngine.get_indexer_non_unique PeriodEngine.get_loc
    """,
    "pandas._libs.indexing": "NDFrameIndexerBase",
    "pandas._libs.internals": """
        BlockManager._interleaved_dtype BlockValuesRefs._add_index_reference_maybe_locked
        BlockValuesRefs._add_reference_maybe_locked BlockValuesRefs._has_reference_maybe_locked
    """,
    "pandas._libs.lib": """
        dicts_to_array fast_multiget is_bool_array is_date_array is_datetime64_array
        is_datetime_array is_datetime_with_singletz_array is_decimal is_float_array is_integer_array
        is_integer_float_array is_interval_array is_time_array is_timedelta_or_timedelta64_array
        maybe_convert_numeric
    """,
    "pandas._libs.tslibs.period": "_Period.asfreq _Period.to_timestamp",
    "pandas._libs.window.aggregations": """
        roll_corr roll_cov roll_kurt roll_last roll_max roll_median_c roll_min roll_nunique
        roll_rank roll_skew roll_weighted_mean roll_weighted_var
    """,
    "pandas.api.types": "is_complex",
    "pandas.core.array_algos.take": "take_2d_multi",
    "pandas.core.indexing": "_AtIndexer _LocationIndexer _ScalarAccessIndexer _iAtIndexer",
    "pandas.core.internals.blocks": "EABackedBlock NDArrayBackedExtensionBlock",
    "pandas.core.internals.managers": "SingleBlockManager.set_values",
    "pint.facets.plain.registry": """
        GenericPlainRegistry._get_symbol GenericPlainRegistry.get_symbol
        GenericPlainRegistry.parse_units_as_container
    """,
    "scipy.interpolate._bsplines": "_compute_optimal_gcv_parameter _lsq_solve_qr",
    "scipy.interpolate._dierckx": "_coloc_nd evaluate_all_bspl evaluate_ndbspline find_interval",
    "scipy.interpolate._ndbspline": "make_ndbspl",
    "scipy.interpolate._ppoly": "evaluate_bernstein evaluate_nd fix_continuity",
    "scipy.interpolate._rbfinterp_pythran": "_polynomial_matrix",
    "scipy.interpolate._rgi_cython": "evaluate_linear_2d find_indices",
    "scipy.ndimage._measurements": "watershed_ift",
    "scipy.ndimage._nd_image": "min_or_max_filter zoom_shift",
    "scipy.optimize._highspy._highs_wrapper": "_highs_wrapper",
    "scipy.signal._spline": "symiirorder2_ic_bwd",
    "scipy.sparse._dok": "_dok_base._set_int",
    "scipy.spatial._distance_wrap": """
        cdist_braycurtis_double_wrap cdist_canberra_double_wrap cdist_chebyshev_double_wrap
        cdist_cityblock_double_wrap cdist_cosine_double_wrap cdist_euclidean_double_wrap
        cdist_jensenshannon_double_wrap cdist_mahalanobis_double_wrap cdist_minkowski_double_wrap
        cdist_sqeuclidean_double_wrap pdist_braycurtis_double_wrap pdist_canberra_double_wrap
        pdist_chebyshev_double_wrap pdist_cityblock_double_wrap pdist_cosine_double_wrap
        pdist_euclidean_double_wrap pdist_jensenshannon_double_wrap pdist_minkowski_double_wrap
        pdist_sqeuclidean_double_wrap
    """,
    "scipy.spatial.distance": "_correlation_cdist_wrap _correlation_pdist_wrap",
    "scipy.spatial.transform._rigid_transform_cy": "compose_transforms normalize_dual_quaternion",
    "scipy.stats._continuous_distns": """
        genextreme_gen._isf genextreme_gen._loglogcdf genextreme_gen._ppf genpareto_gen._logpdf
        genpareto_gen._logsf kappa4_gen._logcdf kappa4_gen._logpdf kappa4_gen._ppf
        pearson3_gen._logpdf pearson3_gen._ppf pearson3_gen._sf
    """,
    "scipy.stats._stats": """
        gaussian_kernel_estimate[float] gaussian_kernel_estimate[long_double]
        gaussian_kernel_estimate_log[float] gaussian_kernel_estimate_log[long_double]
    """,
    "statistics": "_mean_stdev",
    "sympy.core.sympify": "_convert_numpy_types",
}
"""Those that no test met which was measured, a part of all: one that meets them moves them to
`REACHED`. Nothing new belongs here."""
