"""In how many rounds messages go, so that they fit into the memory that is granted, and where each lies there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..distributed import Copy, Message
from ._pieces import TO, between

MOST_BYTES = 2**31 - 1  # MPI counts bytes in an int


def needed_rounds(lengths: Sequence[int], most: int, parts: int) -> int:
    """The least number of rounds for messages of these lengths. More than one round shares the memory of `most`
    elements between that many `parts`, for rounds overlap. Each message has a place for one element at least.

    >>> needed_rounds([6, 6], 12, 2), needed_rounds([6, 6], 11, 2), needed_rounds([6, 6], 0, 2)
    (1, 3, 6)
    """
    if sum(lengths) <= most:
        return 1
    longest = max(lengths)
    spare = most // parts - len(lengths)  # what lengths that are rounded up leave
    rounds = -(-sum(lengths) // spare) if spare > 0 else longest
    rounds = min(rounds, longest)
    while rounds > 1 and _slots(lengths, rounds - 1)[1] <= most // parts:
        rounds -= 1
    return rounds


def _slots(lengths: Sequence[int], rounds: int) -> tuple[list[int], int]:
    """Where each message's part begins in a buffer, and the length of that."""
    places, end = [], 0
    for length in lengths:
        places.append(end)
        end += -(-length // rounds)
    return places, end


class Buffer:
    """How the messages that a rank sends, or those that it receives, lie in a buffer during a round."""

    def __init__(self, messages: Sequence[Message], rounds: int) -> None:
        self.messages, self.rounds = messages, rounds
        #: Where each begins, and the length of the buffer, in elements.
        self.places, self.length = _slots([message.elements for message in messages], rounds)

    def span(self, message: Message, number: int) -> tuple[int, int]:
        """First and last element, that not included, of what goes in this round."""
        return message.elements * number // self.rounds, message.elements * (number + 1) // self.rounds

    def counts(self, number: int, ranks: int) -> tuple[list[int], list[int]]:
        """For each rank how many elements, and where they begin."""
        counts, places = [0] * ranks, [0] * ranks
        for place, message in zip(self.places, self.messages):
            first, last = self.span(message, number)
            counts[message.rank], places[message.rank] = last - first, place
        return counts, places

    def copies(self, message: Message, number: int, place: int | None, side: str) -> Iterator[Copy]:
        """What is copied in this round. `side` names which end of a copy lies in the buffer, there at `place`; where
        that is None both ends lie in arrays."""
        first, last = self.span(message, number)
        if place is None:
            yield from between(message.copies, first, last)
            return
        shift = place - first - getattr(message.copies[0], side)
        for copy in between(message.copies, first, last):
            yield copy._replace(**{side: getattr(copy, side) + shift})

    def packed(self, number: int) -> Iterator[Copy]:
        """From the local array into the buffer."""
        for place, message in zip(self.places, self.messages):
            yield from self.copies(message, number, place, TO)

