"""The texts that are taken from the corpus."""
from corpus import LONGEST, sentences

FILE = """categories:
- greetings
conversations:
- - Hello
  - 'Hi there, "you"'
- - 你好
  - Sub:
  - %s
  -
no: sentence
"""


def test_the_sentences_of_conversations_are_taken_and_no_titles(tmp_path):
    file = tmp_path / "greetings.yml"
    file.write_text(FILE % ("x" * (LONGEST + 1)), encoding="utf8")
    assert sentences([file]) == ["greetings", "Hello", 'Hi there, "you', "你好"]


def test_a_sentence_may_be_as_long_as_the_bound_in_bytes(tmp_path):
    file = tmp_path / "long.yml"
    file.write_text("- - " + "ü" * (LONGEST // 2) + "\n- - " + "ü" * (LONGEST // 2 + 1) + "\n", encoding="utf8")
    assert sentences([file]) == ["ü" * (LONGEST // 2)]
