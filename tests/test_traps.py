"""Where the traps of real files are held: what goes wrong elsewhere, and the laws that keep it from happening here."""

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
READING = {
    "CRLF, blank lines, lower case, empty and repeated ids, no final line feed": [
        "formats/test_fasta.py::test_awkward_file",
        "formats/test_fasta.py::test_round_trip",
    ],
    "letters before the first header, an empty file": [
        "formats/test_fasta.py::test_no_fasta",
        "formats/test_detect.py::test_a_source_without_records_is_an_error",
    ],
    "ids are whole up to the first white space, the description stands beside": ["formats/test_fasta.py::test_headers"],
    "positions behind 2^31": [
        "tasks/test_far_positions.py::test_a_region_behind_2_to_the_31",
        "tasks/test_far_positions.py::test_intervals_are_written_and_read",
        "tasks/test_far_positions.py::test_tokens_know_where_they_stand",
        "tasks/test_far_positions.py::test_statistics_of_lengths",
    ],
    "a million contigs: each is answered, little is kept of it, the terminal shows 25 lines": [
        "tasks/test_many_contigs.py::test_a_contig_more_is_a_few_bytes_more",
        "tasks/test_many_contigs.py::test_a_terminal_shows_25_lines",
    ],
    "what a file is follows from its content, never from its name": [
        "formats/test_containers.py::test_same_bytes_whatever_the_name_says",
        "formats/test_detect.py::test_content_decides",
    ],
    "one sequence has one report, whatever it is written in and packed into": [
        "formats/test_same_everywhere.py::test_same_letters",
        "formats/test_same_everywhere.py::test_same_report",
        "cli/test_cli_summarize.py::test_the_same_sequence_gives_the_same_row_however_it_is_packed",
    ],
    "a cut file is reported whole and marked": [
        "formats/test_containers.py::test_every_cut_of_a_small_container_is_noticed",
        "formats/test_fasta.py::test_truncated_file_gives_all_and_marks_the_last",
    ],
    "nothing is written beside the user's files": [
        "cli/test_nothing_beside.py::test_no_file_appears_beside_the_inputs"
    ],
    "no record is held whole": [
        "formats/test_fasta.py::test_no_record_is_held",
        "tasks/test_dna_memory.py::test_ten_times_the_record_is_not_more_memory",
    ],
    "pieces of an unbroken record bound what learning words costs": [
        "tokens/test_learn.py::test_pieces_of_dna_tile_its_runs_however_it_comes"
    ],
}
ALPHABET = {
    "lower case is a mask, U is T, N keeps its length": [
        "tokens/test_dna.py::test_decode_gives_the_letters_back",
        "tokens/test_dna.py::test_ids_follow_the_alphabet_and_case_is_a_mask",
        "tokens/test_dna.py::test_u_is_read_as_t_in_its_case",
    ],
    "all fifteen codes complement right, twice is the same": [
        "tokens/test_dna.py::test_complement_is_that_of_the_nomenclature",
        "tokens/test_dna.py::test_reverse_complement_twice_is_the_sequence",
    ],
    "any other letter is an error that names record and place": [
        "tokens/test_dna.py::test_every_other_byte_is_an_error_that_names_its_base",
        "formats/test_fasta.py::test_illegal_letter_says_where_and_what_to_do",
    ],
    "protein is refused as protein": ["formats/test_fasta.py::test_a_file_of_protein_is_one_error"],
    "a model that claims strand symmetry shows its gap": ["tasks/test_check_faults.py::test_every_mixer_passes"],
    "the soft-masked share of training is kept, and a shift is told": [
        "training/test_soft_mask.py::test_the_share_is_kept_with_every_checkpoint",
        "training/test_soft_mask.py::test_an_input_that_is_masked_otherwise_is_told",
    ],
}
COORDINATES = {
    "BED is half-open with a whole score": [
        "formats/test_writers.py::test_bed",
        "formats/test_writers.py::test_bed_score_is_a_whole_number",
    ],
    "one base survives BED, GFF3, GenBank and --region": [
        "tasks/test_far_positions.py::test_a_feature_of_one_base_survives",
        "formats/test_tables_of_labels.py::test_intervals_of_bed_and_of_gff_are_the_same",
    ],
    "a CDS of GFF3 has ID, phase, transl_table and partial flags": [
        "tasks/test_annotate_genes.py::test_partial_genes_say_so",
        "tasks/test_annotate_genes.py::test_gff3_keeps_to_its_format",
    ],
    "features cross the origin of a circle": [
        "tasks/test_annotate_genes.py::test_a_gene_across_the_origin_is_written_once",
        "formats/test_tables_of_labels.py::test_features_across_an_origin_come_in_two",
    ],
    "a GFF3 may carry its sequences": ["formats/test_gff.py::test_sequences_below_features"],
    "bigWig is float32 with gaps over N": [
        "formats/test_bigwig.py::test_values_read_back_equal",
        "cli/test_cli_annotate.py::test_tracks_are_probabilities_with_gaps_over_n",
    ],
    "names are matched across spellings, and both sides are listed where nothing matches": [
        "formats/test_names.py::test_alike_either_way",
        "formats/test_names.py::test_not_alike",
        "formats/test_region_cut.py::test_missing_name_lists_near_ones",
        "tasks/variants/test_variants.py::test_names_that_match_nothing_are_listed_from_both_sides",
        "training/test_labels.py::test_intervals_that_cannot_be_learned",
    ],
    "a region past the end is cut and told, or an error where it must be": [
        "cli/test_cli_summarize.py::test_a_region_past_the_end_is_clipped_and_said",
        "formats/test_region_cut.py::test_end_past_the_end_is_an_error_where_it_must_not_be",
    ],
    "no row of a table of variants is dropped, equal rows have equal scores, what has no number has a reason": [
        "tasks/variants/test_variant_files.py::test_written_rows_are_the_rows_that_were_read",
        "tasks/variants/test_variants.py::test_equal_changes_have_equal_scores_and_are_read_once",
        "tasks/variants/test_variants.py::test_what_has_no_number_has_a_reason",
    ],
    "a surprise stands at its own base on both strands": [
        "tasks/test_dna_bits.py::test_each_strand_stands_at_its_own_bases",
        "tasks/test_dna_bits.py::test_a_planted_surprise_ranks_first_at_its_place",
        "tasks/test_dna_bits.py::test_record_and_reverse_complement_mirror_each_other",
    ],
    "padding and lane-mates change nothing": ["streaming/test_lanes.py::test_neither_lane_nor_lane_mates_move_a_bit"],
    "no seams": [
        "streaming/test_class_reader.py::test_any_chunk_gives_what_the_whole_record_gives",
        "streaming/test_surprisal.py::test_bits_are_those_of_the_whole_record",
    ],
    "genes of operons overlap": ["tasks/test_annotate_genes.py::test_operons_keep_their_overlaps"],
}
TRAPS = READING | ALPHABET | COORDINATES


@pytest.mark.parametrize("trap", TRAPS)
def test_each_trap_is_held_by_tests_that_are_there(trap):
    for place in TRAPS[trap]:
        file, name = place.split("::")
        tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
        assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, place
