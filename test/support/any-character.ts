// Any character of Unicode for property tests, as fast-check's unit `binary` gives it. That one makes a list of all million of them at its
// first use, which costs a process of tests a second.
import fc from 'fast-check';

const surrogates = { first: 0xd800, count: 0x800 };

/** One code point that is no half of a surrogate pair. */
export const anyCharacter = fc.integer({ min: 0, max: 0x10ffff - surrogates.count }).map(
  (index) => String.fromCodePoint(index < surrogates.first ? index : index + surrogates.count),
  (value) => {
    const point = typeof value === 'string' && value.isWellFormed() ? value.codePointAt(0) : undefined;
    if (point === undefined || value !== String.fromCodePoint(point)) throw new Error('not one character');
    return point < surrogates.first ? point : point - surrogates.count;
  },
);
