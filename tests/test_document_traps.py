"""Where the traps of documents are held: what goes wrong when they are read and split, and the laws that prevent it."""

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
READING = {
    "UTF-8 with and without a mark, UTF-16, GB18030, Big5, Latin-1: told, never a crash, bad bytes counted": [
        "formats/test_encodings.py::test_encodings_are_told",
        "formats/test_encodings.py::test_a_mark_says_so",
        "formats/test_encodings.py::test_bad_bytes_are_counted",
        "formats/test_encodings.py::test_a_text_with_some_bad_bytes_keeps_its_encoding",
        "formats/test_encodings.py::test_any_bytes_are_read",
        "cli/test_cli_documents.py::test_bad_bytes_are_said",
    ],
    "what a file is follows from its bytes": [
        "formats/test_detect.py::test_content_decides",
        "formats/test_detect.py::test_name_settles_what_content_cannot",
    ],
    "a Chinese letter is a word, pairs of them are terms": [
        "tokens/test_words.py::test_count",
        "tokens/test_words.py::test_terms",
    ],
    "PDF page by page: memory does not grow with pages": [
        "formats/test_pdf_traps.py::test_memory_does_not_grow_with_pages"
    ],
    "pages that cannot be read are named, the rest is read, the exit code is 3": [
        "formats/test_pdf.py::test_pages_that_cannot_be_read_are_named_and_the_rest_is_read",
        "formats/test_pdf.py::test_half_of_a_page_is_no_page",
        "formats/test_pdf.py::test_a_scan_with_a_stamp_is_a_scan",
        "cli/test_cli_documents.py::test_pages_without_text_are_named_and_the_code_is_3",
    ],
    "heads and feet are left out and counted, numbers in them aside, heads that change too; titles stay": [
        "formats/test_pdf.py::test_heads_and_feet_are_left_out",
        "formats/test_pdf.py::test_what_comes_once_at_the_top_of_a_page_stays",
        "formats/test_pdf_traps.py::test_a_head_that_changes_with_every_page_is_left_out",
        "formats/test_pdf_traps.py::test_titles_at_the_top_of_few_pages_stay",
    ],
    "garble is known by fonts without a map to Unicode and by mixed scripts": [
        "formats/test_pdf.py::test_letters_without_a_map_are_garbled",
        "formats/test_pdf.py::test_mixed_scripts",
    ],
    "hyphens at ends of lines are joined, those of words kept; soft hyphens and ligatures are resolved": [
        "formats/test_pdf.py::test_hyphens_at_the_ends_of_lines",
        "formats/test_pdf.py::test_two_lines_as_one",
        "formats/test_pdf_traps.py::test_soft_hyphens_are_none",
        "formats/test_pdf_traps.py::test_ligatures_are_their_letters",
    ],
    "no blank between joined lines of Chinese; vertical lines are read": [
        "formats/test_pdf.py::test_no_blank_between_chinese_lines",
        "formats/test_pdf_traps.py::test_vertical_chinese_is_read",
    ],
    "two columns, notes below them, tables": [
        "formats/test_pdf.py::test_two_columns_written_row_by_row",
        "formats/test_pdf_traps.py::test_notes_at_the_foot_of_two_columns",
        "formats/test_pdf.py::test_a_sentence_goes_on_past_notes_and_the_end_of_the_page",
        "formats/test_pdf.py::test_a_table_is_read_by_its_rows",
    ],
    "numbers of a transcript's lines": [
        "formats/test_pdf.py::test_numbers_of_a_transcript_are_left_out",
        "formats/test_pdf_traps.py::test_numbered_lines_of_a_transcript_with_heads_and_feet",
        "tasks/test_document_structure.py::test_lines_of_a_transcript_are_numbered",
    ],
    "an empty password is none, another is an error with the way out": [
        "formats/test_pdf.py::test_an_owners_password_does_not_matter",
        "formats/test_pdf_traps.py::test_an_empty_password_is_none",
        "formats/test_pdf.py::test_a_pdf_that_cannot_be_read",
    ],
    "sections come from an outline, else from the size of letters": [
        "formats/test_pdf.py::test_sections_and_labels_of_pages",
        "formats/test_pdf_headings.py::test_larger_letters_are_headings_and_nest_by_size",
        "formats/test_pdf_headings.py::test_what_is_no_heading",
    ],
    "EPUB in the order of its spine, without navigation": [
        "formats/test_marked_up.py::test_epub_in_the_order_of_its_spine"
    ],
    "DOCX with tables, text boxes, notes and insertions": ["formats/test_marked_up.py::test_docx"],
    "HTML without scripts, menus, numbers of notes": [
        "formats/test_marked_up.py::test_html",
        "formats/test_marked_up.py::test_numbers_of_notes_and_addresses_behind_links_are_no_text",
    ],
    "hostile and broken files are read or one error": [
        "formats/test_marked_up.py::test_hostile_and_broken_files_are_one_error",
        "formats/test_marked_up.py::test_damaged_files_are_read_or_one_error",
    ],
    "headings of Markdown, reStructuredText and plain text give the path of sections": [
        "tasks/test_document_structure.py::test_markdown",
        "tasks/test_document_structure.py::test_underlined_titles_are_nested_in_order_of_appearance",
        "tasks/test_document_structure.py::test_headings_of_plain_text",
        "tasks/test_document_structure.py::test_numbers_of_sections_nest",
    ],
    "a line of JSON may be of any length": [
        "formats/test_document_readers.py::test_any_json_lines",
        "formats/test_document_readers.py::test_bad_line_is_a_record_that_raises",
    ],
}
SPLITTING = {
    "spans and gaps concatenate to the text, for any Unicode": [
        "tokens/test_sentences.py::test_spans_and_blank_gaps_concatenate_to_the_text"
    ],
    "nothing depends on how the text arrives": ["tokens/test_sentences.py::test_the_cuts_of_the_pieces_change_nothing"],
    "time is linear, whatever is repeated; memory is one window": [
        "tokens/test_sentences.py::test_nothing_is_slow",
        "tokens/test_sentences.py::test_time_is_linear",
        "tokens/test_sentences.py::test_memory_is_one_window",
    ],
    "seams of windows and of the splitter itself show nowhere": [
        "tokens/test_sentences.py::test_a_paragraph_of_many_windows_has_no_seams",
        "tokens/test_sentences.py::test_around_every_ten_thousandth_character_it_is_as_elsewhere",
        "tokens/test_sentences.py::test_a_seam_of_sentencex_itself_loses_nothing",
    ],
    "citations, turns, speech, lists, abbreviations, decimals, section signs, and marks of many scripts": [
        "tokens/test_sentence_rules.py::test_a_passage_is_split_line_by_line",
        "tokens/test_sentence_rules.py::test_ends_of_lines_are_blanks",
        "tokens/test_sentence_rules.py::test_a_turn_begins_its_line_whatever_was_before",
        "tokens/test_sentences.py::test_chinese_and_japanese",
        "tokens/test_sentences.py::test_other_stops",
    ],
    "each passage is split in its own language": [
        "tokens/test_sentence_rules.py::test_the_language_of_a_passage",
    ],
    "a last sentence without a stop is kept": ["tokens/test_sentences.py::test_english"],
    "what is too long is wrapped at clauses and flagged": [
        "tokens/test_sentences.py::test_what_is_too_long_is_wrapped_and_flagged",
        "tokens/test_sentences.py::test_a_long_speech_is_split_inside_its_quotation_marks",
    ],
    "an opinion, a transcript, a judgment, Chinese, Japanese, Arabic and Hindi are split and quoted right": [
        "tasks/test_document_samples.py::test_sentences_and_sections_are_those_that_a_reader_sees",
        "tasks/test_document_samples.py::test_a_summary_quotes_them_as_they_stand",
    ],
}
TRAPS = READING | SPLITTING


@pytest.mark.parametrize("trap", TRAPS)
def test_each_trap_is_held_by_tests_that_are_there(trap):
    for place in TRAPS[trap]:
        file, name = place.split("::")
        tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
        assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, place
