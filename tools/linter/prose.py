"""Checks of how comments and pages are written: phrases that are never right, and how headers begin."""

import re

from text_source import Page

# (phrase, what to write). A phrase is a regular expression that begins and ends at words. Add only
# what is wrong wherever it stands; a phrase that holds another one comes before it.
PHRASES = [
    (r"none being none", "`nullopt if absent`"),
    (r"of none", "`of no ...`, or say when it is empty"),
    (r"(?:that|which|who|he) has none", "`without a ...`"),
    (r"(?:its|their) like", "name the members, or `similar`"),
    (r"whoever|whosoever", "`the client that`, `a caller that`"),
    (r"nobody", "`no client`, `no caller`"),
    (r"somebody|someone", "`a client`, `a caller`"),
    (r"anybody|anyone", "`any client`, `any caller`"),
    (r"tells? of", "`reports`, `returns`, `describes`"),
    (r"told of", "`notified of`, `receives`"),
    (r"go(?:es)? on with", "`continues with`"),
    (r"stands? for itself", "`means itself`"),
    (r"stands? for", "`represents`, `means`"),
    (r"in place of", "`instead of`"),
    (r"of old(?=\W*$|[.,;:)])", "`old`, `earlier`"),
    (r"for ever", "`forever`, `without a TTL`"),
    (r"let in", "`accepted`, `admitted`"),
    (r"has no sense", "`is meaningless`"),
    (r"becomes? of (?:it|them)", "name the result"),
    (r"(?:is|are) told", "`receives`, `is notified`"),
]

_PHRASES = [(re.compile(rf"\b(?:{phrase})(?<=\w)(?!\w)", re.IGNORECASE), instead) for phrase, instead in PHRASES]
_ANY_PHRASE = re.compile("|".join(phrase for phrase, _ in PHRASES))
MIN_INTRODUCTION_LINES = 3

# Paragraphs that every header has in the same form, up to the next blank line.
_FORMAL = re.compile(r"(?:Thread-safety|Source):")


def check_phrases(source, _):
    lines = source.text_lines if isinstance(source, Page) else source.comments
    if not _ANY_PHRASE.search("\n".join(text for _, text in lines).lower()):
        return
    for line, text in lines:
        text = re.sub(r"`[^`]*`|\"[^\"]*\"", lambda match: " " * len(match.group(0)), text)
        for phrase, instead in _PHRASES:
            for match in phrase.finditer(text):
                yield line, f'"{match.group(0)}", write {instead}'
            text = phrase.sub("", text)  # A longer phrase comes before those in it.


def check_thread_safety(source, _):
    if not any("Thread-safety:" in line.text for line in source.leading_comment()):
        yield 1, "no `Thread-safety:` in the comment that opens the header"


def check_introduction(source, _):
    lines = _introduction_lines(source.leading_comment())
    if lines < MIN_INTRODUCTION_LINES:
        yield 1, f"an introduction of {lines} lines beside thread-safety and source"


def _introduction_lines(comment):
    """How many lines say what the header is and how it is used: prose and examples."""
    count, counts = 0, True
    for line in comment:
        text = line.text.removeprefix("//").strip()
        if not text:
            counts = True
        elif _FORMAL.match(text):
            counts = False
        count += counts and bool(text)
    return count
