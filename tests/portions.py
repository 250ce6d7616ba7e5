"""What `make test` runs of the tests that take long; `make test-long` runs the rest of them.

The table says of which tests one in so many is run at once, chosen by its name, and of which none.
What is not in it is always run, and so are tests without parameters that it does not name. Of
several lines for a test the longest counts.
"""

from __future__ import annotations

from zlib import crc32

__all__ = ["is_run_at_once"]

NONE = 0

PORTIONS = {
    # what the documents say of thousands of functions
    "tests/census/test_census.py::test_the_page": NONE,
    "tests/docs/test_pages.py::test_a_page_prints_what_it_says": 4,
    # derivatives of derivatives, and further ways to the same numbers
    "tests/derivatives/": 2,
    "tests/derivatives/test_linear.py::test_corpus": 8,
    "tests/fast/test_tangents.py::test_pushforwards_of_the_corpus": 8,
    "tests/fast/test_tangents.py::test_hessians_of_the_corpus": 16,
    "tests/fast/test_tangents.py::test_functions_of_the_corpus_inside_another": 16,
    "tests/frontend/bytecode/test_corpus.py::test_without_source": 8,
    "tests/library/test_library.py::test_on_levels": 8,
    "tests/rules/test_second_order.py": 8,
    "tests/test_inside_as_outside.py::test_the_same_inside": 8,
    "tests/rules/test_third_order.py": 8,
    "tests/test_corpus.py::test_second_order": 12,
    "tests/test_corpus.py::test_forward": 2,
    "tests/test_corpus.py::test_exception_in_the_sweep": 2,
    "tests/test_fuzz.py::test_programs[": 3,
    "tests/test_levels_refusals.py::test_second_derivatives_in_limits_of_integration": NONE,
    # tables of many lines for each function, and what is computed by many steps
    "tests/errors/test_memory_of_c.py": 4,
    "tests/errors/test_unknown_functions.py::test_numbers_in_other_clothes": 12,
    "tests/library/test_frames.py": 4,
    "tests/library/test_neighbours.py": NONE,
    "tests/rules/numpy_linalg/": 3,
    "tests/rules/scipy/": 10,
    "tests/rules/scipy/test_integrate.py": 30,
    "tests/rules/scipy/test_isotonic.py::test_fits_of_scikit_learn": NONE,
    "tests/rules/test_variants.py::test_operands_of_other_kinds": 10,
    "tests/rules/test_numpy_fft.py": 4,
    "tests/rules/test_numpy_quantiles.py": 4,
    "tests/test_object_arrays.py": 3,
    "tests/test_objects_as_elements.py": 4,
    "tests/errors/": 4,
    "tests/fast/": 4,
    "tests/frontend/": 2,
    "tests/library/test_library.py::test_by_finite_differences": 5,
    "tests/rules/": 4,
    "tests/rules/test_completeness.py": 1,
    "tests/test_corpus.py::test_tape": 3,
    "tests/explanation/test_agreement.py": 12,
    # all lines of a table, or many programs, in one test
    "tests/api/test_tiers.py::test_the_environment_names_a_tier": NONE,
    "tests/derivatives/test_flat.py::test_minimize": NONE,
    "tests/fast/passes/test_meaning.py::test_random_jumps": NONE,
    "tests/fast/passes/test_residuals.py::test_programs_that_save_everything": NONE,
    "tests/fast/test_agree.py::test_random_numbers_and_arrays": NONE,
    "tests/fast/test_agree.py::test_rules_that_are_inlined_whole": NONE,
    "tests/fast/test_agree.py::test_the_tables_of_rules": NONE,
    "tests/fast/test_in_place_programs.py::test_both_tiers_agree": 4,
    "tests/fast/test_inside.py::test_random_programs": NONE,
    "tests/fast/test_inside.py::test_the_corpus": NONE,
    "tests/fast/test_rules_in_loops.py::test_the_tables_of_rules": NONE,
    "tests/fast/test_second_order_programs.py": 8,
    "tests/fast/test_second_order_programs.py::test_most_functions": NONE,
    "tests/fast/test_single.py::test_random": 3,
    "tests/fast/test_agree.py::test_random_jumps": NONE,
    "tests/fast/test_types.py::test_values_in_the_corpus": NONE,
    "tests/fast/test_writes_in_loops.py::test_both_tiers_agree": 4,
    "tests/test_gradbench.py::test_the_search_of_particle": NONE,
    "tests/test_gradbench.py::test_the_jacobian_of_ht[loops": NONE,
    "tests/rules/scipy/test_stats.py::test_tukeys_test": NONE,
    "tests/rules/scipy/test_search_state.py::test_models_of_many_objects": NONE,
    "tests/rules/scipy/test_trajectories.py::test_another_solution_is_refused": NONE,
    "tests/rules/scipy/test_trajectories.py::test_short_pulses": NONE,
    "tests/value/test_micrograd_demo.py": NONE,
    # new processes, which import everything
    "tests/test_disk.py::test_a_global_of_another_kind_is_seen": NONE,
    "tests/test_disk.py::test_what_was_cut_off_or_changed_is_not_used": NONE,
    "tests/test_import.py::test_the_very_first_call_of_a_library": NONE,
}


def is_run_at_once(name: str) -> bool:
    """Whether the test of that node identifier is one that `make test` runs."""
    lines = [line for line in PORTIONS if name.startswith(line)]
    if not lines:
        return True
    line = max(lines, key=len)
    portion = PORTIONS[line]
    if portion == NONE or ("[" not in name and "::" not in line):
        return portion != NONE
    return crc32(name.encode()) % portion == 0
