/**
 * The differences between two JSON texts, by JSON Pointer: values whose pointer exists in only one
 * of the texts, and values that are not equal in both. The layout of the texts is ignored.
 */

import type { Node } from 'jsonc-parser';

import { children } from './tree.js';

/** Ranges of two texts that differ. An empty range marks the location at which the other text has an additional part. */
export interface Difference {
  fromA: number;
  toA: number;
  fromB: number;
  toB: number;
}

/** A text, and the value in it that is compared. */
export interface Compared {
  text: string;
  value: Node;
}

/** Returns the differences between two values, in the order of both texts. */
export function differencesOf(a: Compared, b: Compared): Difference[] {
  const found: Difference[] = [];
  try {
    compare(a.value, b.value, a.text, b.text, found);
  } catch (error) {
    // Nested more deeply than the stack allows. The texts are shown without differences.
    if (!(error instanceof RangeError)) throw error;
  }
  return found;
}

interface Member {
  key: string;
  value: Node;
  from: number;
  /** The end, after the comma if there is one. */
  to: number;
}

function compare(a: Node, b: Node, textA: string, textB: string, found: Difference[]): void {
  if (a.type !== b.type || a.children === undefined || b.children === undefined) {
    if (!same(a, b, textA, textB)) {
      found.push({ fromA: a.offset, toA: a.offset + a.length, fromB: b.offset, toB: b.offset + b.length });
    }
    return;
  }
  const [ours, theirs] = [membersOf(a, textA), membersOf(b, textB)];
  const partner = partnersOf(ours, theirs, a.type === 'array');
  const kept = increasing(partner);
  // A member that only moved is not a difference, because its pointer and its value are unchanged.
  const moved = ours.flatMap((mine, one) => {
    const yours = kept.has(one) ? undefined : theirs[partner[one] ?? -1];
    return yours !== undefined && same(mine.value, yours.value, textA, textB) ? [one] : [];
  });
  const movedA = new Set(moved);
  const movedB = new Set(moved.map((one) => partner[one]));
  let [endA, endB] = [a.offset + 1, b.offset + 1];
  let next = 0;
  const gap = (untilA: number, untilB: number, fromOne: number) => {
    const removed = runs(ours, fromOne, untilA, endA, (one) => !movedA.has(one));
    const added = runs(theirs, next, untilB, endB, (other) => !movedB.has(other));
    const lastA = untilA > fromOne ? (ours[untilA - 1] as Member).to : endA;
    if (removed.length === 1 && added.length === 1) {
      const [[fromA, toA] = [0, 0]] = removed;
      const [[fromB, toB] = [0, 0]] = added;
      found.push({ fromA, toA, fromB, toB });
      return;
    }
    for (const [fromA, toA] of removed) found.push({ fromA, toA, fromB: endB, toB: endB });
    for (const [fromB, toB] of added) found.push({ fromA: lastA, toA: lastA, fromB, toB });
  };
  let from = 0;
  for (const one of kept) {
    const other = partner[one] as number;
    gap(one, other, from);
    const [mine, yours] = [ours[one] as Member, theirs[other] as Member];
    compare(mine.value, yours.value, textA, textB, found);
    [endA, endB, next, from] = [mine.to, yours.to, other + 1, one + 1];
  }
  gap(ours.length, theirs.length, from);
}

/**
 * Returns the ranges of consecutive members for which `counts` is true. A range begins where the
 * member before it ends.
 */
function runs(
  members: readonly Member[],
  from: number,
  to: number,
  start: number,
  counts: (at: number) => boolean,
): [from: number, to: number][] {
  const found: [number, number][] = [];
  let isOpen = false;
  for (let at = from; at < to; at++) {
    const { to: end } = members[at] as Member;
    if (!counts(at)) isOpen = false;
    else if (isOpen) (found.at(-1) as [number, number])[1] = end;
    else {
      found.push([at === from ? start : (members[at - 1] as Member).to, end]);
      isOpen = true;
    }
  }
  return found;
}

function membersOf(node: Node, text: string): Member[] {
  return [...children(node)].map(({ name, value, property }) => {
    const end = value.offset + value.length;
    let comma = end;
    while (/\s/.test(text[comma] ?? '')) comma++;
    return {
      key: node.type === 'array' ? keyOf(value, text) : String(name),
      value,
      from: (property ?? value).offset,
      to: text[comma] === ',' ? comma + 1 : end,
    };
  });
}

/**
 * Returns the key that identifies an item after others were removed from the list: the name of a
 * tool, or the text of a scalar.
 */
function keyOf(item: Node, text: string): string {
  if (item.children === undefined) return text.slice(item.offset, item.offset + item.length);
  if (item.type === 'array') return '[';
  const name = nameIn(item) ?? [...children(item)].map(({ value }) => nameIn(value)).find((one) => one !== undefined);
  return `{${name ?? ''}`;
}

function nameIn(node: Node): string | undefined {
  if (node.type !== 'object') return undefined;
  for (const { name, value } of children(node)) if (name === 'name' && value.type === 'string') return value.value;
  return undefined;
}

/** Returns for each member the index of the other side's member with the same key, or -1. */
function partnersOf(ours: readonly Member[], theirs: readonly Member[], isList: boolean): number[] {
  if (isList && ours.length === theirs.length) return ours.map((_, at) => at);
  const places = new Map<string, number[]>();
  for (let at = theirs.length - 1; at >= 0; at--) {
    const { key } = theirs[at] as Member;
    const known = places.get(key);
    if (known === undefined) places.set(key, [at]);
    else known.push(at);
  }
  return ours.map(({ key }) => places.get(key)?.pop() ?? -1);
}

/** Returns the indexes of a longest increasing subsequence, without -1: the members that are in the same order on both sides. */
function increasing(values: readonly number[]): Set<number> {
  const ends: number[] = [];
  const before: number[] = [];
  values.forEach((value, at) => {
    if (value < 0) return;
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((values[ends[middle] as number] as number) < value) low = middle + 1;
      else high = middle;
    }
    before[at] = ends[low - 1] ?? -1;
    ends[low] = at;
  });
  const found: number[] = [];
  for (let at = ends.at(-1) ?? -1; at >= 0; at = before[at] as number) found.push(at);
  return new Set(found.reverse());
}

/** Returns true if two values are equal, regardless of their layout. Numbers with different spellings differ. */
function same(a: Node, b: Node, textA: string, textB: string): boolean {
  if (a.type !== b.type) return false;
  if (a.type === 'string') return a.value === b.value;
  if (a.children === undefined || b.children === undefined) {
    return textA.slice(a.offset, a.offset + a.length) === textB.slice(b.offset, b.offset + b.length);
  }
  if (a.children.length !== b.children.length) return false;
  const theirs = new Map([...children(b)].map(({ name, value }) => [name, value]));
  return [...children(a)].every(({ name, value }) => {
    const other = theirs.get(name);
    return other !== undefined && same(value, other, textA, textB);
  });
}
