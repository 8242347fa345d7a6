/** Marks at notes: an underlined name, a number in the gutter, and a highlight for the selected note. */

import { type Extension, RangeSet, StateEffect, StateField } from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView, GutterMarker, gutter, hoverTooltip } from '@codemirror/view';

import type { Mark } from '../calls/located.js';
import type { Place } from '../document/tree.js';

/**
 * Marks, and the length of the text that they belong to, because the user may have typed in the
 * meantime.
 */
export interface Marks {
  length: number;
  list: readonly Mark[];
  selected: number | undefined;
}

export const setMarks = StateEffect.define<Marks>();

interface Shown {
  marks: readonly Mark[];
  text: DecorationSet;
  gutter: RangeSet<GutterMarker>;
}

class Numbers extends GutterMarker {
  readonly #marks: readonly Mark[];
  readonly #chosen: boolean;

  constructor(marks: readonly Mark[], chosen: boolean) {
    super();
    this.#marks = marks;
    this.#chosen = chosen;
  }

  override eq(other: Numbers): boolean {
    return this.#label() === other.#label() && this.#chosen === other.#chosen && this.#effect() === other.#effect();
  }

  override toDOM(): Node {
    const dom = document.createElement('span');
    dom.className = `tw-number tw-${this.#effect()}${this.#chosen ? ' tw-chosen' : ''}`;
    dom.dataset.note = String(this.#marks[0]?.number);
    dom.textContent = this.#label();
    return dom;
  }

  #label(): string {
    const [first] = this.#marks;
    return `${(first?.number ?? 0) + 1}${this.#marks.length > 1 ? '+' : ''}`;
  }

  #effect(): string {
    return this.#marks[0]?.effect ?? 'info';
  }
}

const shown = StateField.define<Shown>({
  create: () => ({ marks: [], text: Decoration.none, gutter: RangeSet.empty }),
  update(value, transaction) {
    const given = transaction.effects.find((each) => each.is(setMarks))?.value as Marks | undefined;
    const { doc } = transaction.state;
    if (given === undefined || given.length !== doc.length) {
      if (!transaction.docChanged) return value;
      return {
        marks: [],
        text: value.text.map(transaction.changes),
        gutter: value.gutter.map(transaction.changes),
      };
    }
    const byLine = new Map<number, Mark[]>();
    for (const mark of given.list) {
      const line = doc.lineAt(mark.place.from).from;
      const others = byLine.get(line);
      if (others === undefined) byLine.set(line, [mark]);
      else others.push(mark);
    }
    const numbers = [...byLine].map(([line, marks]) => {
      const chosen = marks.find(({ number }) => number === given.selected);
      const inFront = chosen === undefined ? marks : [chosen, ...marks.filter((mark) => mark !== chosen)];
      return new Numbers(inFront, chosen !== undefined).range(line);
    });
    const names = given.list
      .filter(({ place }) => place.nameTo > place.nameFrom)
      .map(({ place, effect, number }) =>
        Decoration.mark({ class: `tw-mark tw-${effect}`, attributes: { 'data-note': String(number) } }).range(
          place.nameFrom,
          place.nameTo,
        ),
      );
    const chosen = given.list.find(({ number }) => number === given.selected);
    const lines = [];
    if (chosen !== undefined) {
      const deco = Decoration.line({ class: `tw-chosen-line tw-${chosen.effect}` });
      const last = doc.lineAt(chosen.place.to).number;
      for (let line = doc.lineAt(chosen.place.from).number; line <= last; line++)
        lines.push(deco.range(doc.line(line).from));
    }
    return {
      marks: given.list,
      text: Decoration.set([...names, ...lines], true),
      gutter: RangeSet.of(numbers, true),
    };
  },
  provide: (field) => EditorView.decorations.from(field, ({ text }) => text),
});

/** Returns the extension. Clicks on a mark call `onSelect`. */
export function marks(onSelect: (number: number) => void, numbers: boolean): Extension {
  const clicked = (event: Event): boolean => {
    const note = (event.target as HTMLElement).closest?.<HTMLElement>('[data-note]')?.dataset.note;
    if (note === undefined) return false;
    onSelect(Number(note));
    return true;
  };
  return [
    shown,
    numbers
      ? gutter({
          class: 'tw-gutter',
          markers: (view) => view.state.field(shown).gutter,
          domEventHandlers: { mousedown: (_view, _line, event) => clicked(event) },
        })
      : [],
    // The caret still moves to the clicked location.
    EditorView.domEventHandlers({ click: (event) => void clicked(event) }),
    hoverTooltip((view, pos) => {
      const found = view.state.field(shown).marks.filter(({ place }) => place.nameFrom <= pos && pos <= place.nameTo);
      const [first] = found;
      if (first === undefined) return null;
      return {
        pos: first.place.nameFrom,
        end: first.place.nameTo,
        above: true,
        create: () => {
          const dom = document.createElement('div');
          for (const { title, text } of found.slice(0, 4)) {
            const name = document.createElement('b');
            name.textContent = title;
            const description = document.createElement('div');
            description.textContent = text;
            dom.append(name, description);
          }
          return { dom };
        },
      };
    }),
  ];
}

/** Returns the location of the selected mark. */
export function chosenPlace({ list, selected }: Marks): Place | undefined {
  return list.find(({ number }) => number === selected)?.place;
}
