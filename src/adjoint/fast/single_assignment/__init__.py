"""Single-assignment form of functions: conversion, liveness, traversal."""
