"""Which long families of tests `make test` takes a sample of; `make slow` runs all their cases.

A family is a test function with many cases of one kind; the sample is every n-th of them. Cases that were written for
one defect each are no family.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

import pytest

#: the test functions, and every which of their cases is taken
FAMILIES: Final = {
    "tests/autodiff/test_hooks_behind_branches.py::test_it_gets_the_whole_gradient": 3,
    "tests/autodiff/test_hooks_made_anew.py::test_hooks_as_arguments": 4,
    "tests/autodiff/test_partly_followed.py::test_as_in_python": 3,
    "tests/autodiff/test_random_hooks.py::test_compiled_programs": 2,
    "tests/breaks/test_callers.py::test_callers_are_the_programs": 4,
    "tests/breaks/test_forced.py::test_breaks_at_all_calls": 4,
    "tests/breaks/test_generators_that_branch.py::test_as_in_python": 9,
    "tests/breaks/test_reported.py::test_reported_breaks_are_those_that_happen": 4,
    "tests/breaks/test_resume.py::test_every_place": 3,
    "tests/cache/test_kept_entries.py::test_an_edited_program_gets_nothing_old": 5,
    "tests/cache/test_kept_methods.py::test_an_edited_program_gets_nothing_old": 9,
    "tests/cache/test_kept_methods.py::test_objects_of_one_class_get_what_is_theirs": 4,
    "tests/cache/test_kept_methods.py::test_the_same_program_finds_its_entries": 4,
    "tests/capture/test_corpus.py::test_program": 9,
    "tests/capture/test_derived_texts.py::test_operators_of_derived_texts": 3,
    "tests/capture/test_features.py::test_some_programs": 12,
    "tests/capture/test_handles.py::test_a_program_that_chooses_does_what_python_does": 4,
    "tests/capture/test_held_numbers.py::test_native_code_is_given_values": 4,
    "tests/capture/test_host_functions.py::test_code_of_the_programs_that_takes_part": 8,
    "tests/capture/test_in_place_operators.py::test_as_python_does": 3,
    "tests/capture/test_iterator_programs.py::test_random_iterator_programs": 4,
    "tests/capture/test_mapped_functions.py::test_each_example_decides": 3,
    "tests/capture/test_mapped_functions.py::test_gradients": 3,
    "tests/capture/test_names.py::test_values": 3,
    "tests/capture/test_native_writes.py::test_it_is_written_once_in_each_call": 4,
    "tests/capture/test_native_writes.py::test_what_was_written_through_a_view_can_be_resized": 3,
    "tests/capture/test_set_order.py::test_programs_see_the_order_that_python_shows": 4,
    "tests/capture/test_shared_storage.py::test_hooks_names_and_cells": 4,
    "tests/capture/test_shared_storage.py::test_texts": 4,
    "tests/capture/test_sides_that_leave_state.py::test_state_of_the_other_side": 3,
    "tests/capture/test_stand_ins.py::test_no_door_shows_a_stand_in": 9,
    "tests/capture/test_walks_over_cells.py::test_a_walk": 3,
    "tests/capture/test_written_containers.py::test_what_they_hold_depends_on_what_they_held": 3,
    "tests/capture/test_written_places.py::test_random_writes": 3,
    "tests/compile/test_carried.py::test_gradient_outside_of_a_compiled_primitive": 5,
    "tests/compile/test_loops.py::test_loops_compute_as_eager_code_does": 4,
    "tests/compile/test_loops.py::test_the_same_unrolled": 4,
    "tests/compile/test_padding.py::test_a_program_in_padded_arrays_gives_what_it_gives_in_arrays_that_fit": 3,
    "tests/compile/test_padding.py::test_so_do_its_gradients": 3,
    "tests/conformance/test_conformance.py::test_differences_are_declared": 4,
    "tests/containers/test_containers.py::test_a_sample_does_what_python_does": 3,
    "tests/cpython/test_stdlib.py::test_outcomes_are_those_of_python": 3,
    "tests/data/test_dataset_chunks.py::test_any_workers_give_the_same_rows": 4,
    "tests/guards/test_identity.py::test_another_object_is_another_answer": 5,
    "tests/guards/test_kept_natives.py::test_bound_methods_read_their_container": 2,
    "tests/guards/test_kept_natives.py::test_kept_callables": 3,
    "tests/guards/test_restless.py::test_the_number_of_graphs_stays_small": 3,
    "tests/guards/test_surroundings.py::test_what_changed_between_calls_is_seen": 3,
    "tests/jit/test_lifetimes.py::test_local_classes_go_with_what_uses_them": 4,
    "tests/mindir/test_open_sizes.py::test_many_sizes_are_those_of_the_eager_call": 2,
    "tests/mindspore/test_numpy_functions.py::test_as_numpy": 3,
    "tests/mindspore/test_recorded_calls.py::test_answers": 9,
    "tests/mindspore/test_recorded_calls.py::test_compiled_functions_and_gradients": 12,
    "tests/mindspore/test_recorded_operators.py::test_derivatives": 6,
    "tests/mindspore/test_scipy.py::test_as_scipy": 2,
    "tests/mint/test_mint_functions.py::test_says_what_numpy_says_eagerly_and_in_a_graph": 3,
    "tests/nn/test_graph_mode.py::test_training_as_a_graph_is_training": 3,
    "tests/ops/test_attribute_keys.py::test_floats_are_refused_where_integers_are_declared_whatever_was_compiled": 4,
    "tests/ops/test_further_operations.py::test_gradient_is_that_of_finite_differences": 2,
    "tests/ops/test_host.py::test_gradients_make_each_call_once": 2,
    "tests/ops/test_in_graphs.py::test_gradient_of_graph_is_eager": 3,
    "tests/ops/test_matmul_gradients.py::test_gradients_are_those_of_jax": 3,
    "tests/ops/test_primitives.py::test_gradient_is_the_slope": 5,
    "tests/ops/test_primitives.py::test_second_gradient_is_the_slope_of_the_first": 3,
    "tests/ops/test_primitives.py::test_value_is_that_of_the_implementation": 3,
    "tests/ops/test_primitives.py::test_vmap_is_a_loop": 4,
    "tests/ops/test_special_points.py::test_compiled_gradients_are_those_of_the_rules": 9,
    "tests/ops/test_special_points.py::test_gradient_lies_between_the_slopes": 9,
    "tests/sizes/test_open_sizes.py::test_compiled_is_eager_for_all_sizes": 8,
    "tests/sizes/test_random_sizes.py::test_random_programs": 3,
    "tests/views/test_found_in_writes.py::test_boxes": 4,
    "tests/views/test_random_programs.py::test_straight_line": 3,
    "tests/views/test_shared_arrays.py::test_an_array_that_nobody_holds_is_forgotten": 4,
    "tests/views/test_views_of_choices.py::test_writes_reach_what_was_chosen": 3,
}


def take_samples(items: Iterable[pytest.Item]) -> None:
    """Mark the cases of the families slow that the sample leaves out.

    Args:
        items: what was collected. Cases that are slow already do not count.
    """
    places: Counter[str] = Counter()
    for item in items:
        family = item.nodeid.partition("[")[0]
        if family in FAMILIES and item.get_closest_marker("slow") is None:
            if places[family] % FAMILIES[family]:
                item.add_marker(pytest.mark.slow)
            places[family] += 1
