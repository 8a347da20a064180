import type { Key } from 'node:readline';
import type { Paint } from '../../terminal/paint.ts';
import { toSafeText } from '../../terminal/safe-text.ts';
import { countOf } from '../../terminal/tool-lines.ts';
import { cutToRow, toRows } from '../../terminal/wrap.ts';
import type { Card } from './card.ts';

/** The finished calls as a list in which each can be unfolded, and the whole output of one, page by page. */
export interface CardsView {
  /** Handles one key. False: the person leaves. */
  press(text: string | undefined, key: Key): boolean;
  /** At most as many rows as the terminal has, less one. */
  lines(size: Size): string[];
}

interface Size {
  paint: Paint;
  columns: number;
  rows: number;
}

/** How many lines of output an unfolded card shows at first, and at least. */
const [SHOWN_LINES, LEAST_LINES] = [10, 5];
const MOST_LINES = 10_000;
const LIST_KEYS = 'Up, Down · Right, Left unfold, fold · + - lines · a all · Enter whole · Esc';
const PAGER_KEYS = 'Up, Down, PgUp, PgDn, g, G · n, p other calls · Left, Esc back · q leaves';

export const createCardsView = (cards: readonly Card[]): CardsView => new FoldedCards(cards);

class FoldedCards implements CardsView {
  readonly #cards: readonly Card[];
  /** The places of the unfolded ones. */
  #unfolded = new Set<number>();
  #selected: number;
  #shown = SHOWN_LINES;
  /** The whole output of the selected card, from this row; undefined: the list. */
  #top: number | undefined;
  /** Of the last drawing. */
  #pageRows = 1;
  #wrapped: { card: Card; columns: number; rows: readonly string[] } | undefined;

  readonly #listKeys: Keys = {
    up: () => this.#select(-1),
    k: () => this.#select(-1),
    down: () => this.#select(1),
    j: () => this.#select(1),
    g: () => this.#select(-this.#cards.length),
    home: () => this.#select(-this.#cards.length),
    G: () => this.#select(this.#cards.length),
    end: () => this.#select(this.#cards.length),
    right: () => this.#fold(false),
    left: () => this.#fold(true),
    space: () => this.#fold(this.#unfolded.has(this.#selected)),
    '+': () => this.#show(this.#shown * 2),
    '-': () => this.#show(Math.floor(this.#shown / 2)),
    a: () => this.#foldAll(),
    return: () => this.#turnTo(0),
  };

  /** The next drawing keeps the place inside the output. */
  readonly #pagerKeys: Keys = {
    up: () => this.#turnBy(-1),
    k: () => this.#turnBy(-1),
    down: () => this.#turnBy(1),
    j: () => this.#turnBy(1),
    pageup: () => this.#turnBy(-this.#pageRows),
    b: () => this.#turnBy(-this.#pageRows),
    pagedown: () => this.#turnBy(this.#pageRows),
    space: () => this.#turnBy(this.#pageRows),
    g: () => this.#turnTo(0),
    home: () => this.#turnTo(0),
    G: () => this.#turnTo(Number.MAX_SAFE_INTEGER),
    end: () => this.#turnTo(Number.MAX_SAFE_INTEGER),
    n: () => this.#turnToCall(1),
    p: () => this.#turnToCall(-1),
    left: () => this.#turnTo(undefined),
    escape: () => this.#turnTo(undefined),
    return: () => this.#turnTo(undefined),
  };

  constructor(cards: readonly Card[]) {
    this.#cards = cards;
    this.#selected = cards.length - 1;
  }

  press(text: string | undefined, key: Key): boolean {
    const name = nameOf(text, key);
    const isList = this.#top === undefined;
    if (['q', 'ctrl-c', 'ctrl-o', ...(isList ? ['escape'] : [])].includes(name)) return false;
    (isList ? this.#listKeys : this.#pagerKeys)[name]?.();
    return true;
  }

  lines({ paint, columns, rows }: Size): string[] {
    const keys = (text: string) => paint('dim', cutToRow(text, columns));
    const room = Math.max(1, rows - 3);
    const card = this.#cards[this.#selected];
    if (this.#top === undefined || card === undefined) {
      const title = paint('bold', cutToRow(`Calls of this conversation (${this.#cards.length})`, columns));
      return [title, ...this.#list({ paint, columns, rows: room }), keys(LIST_KEYS)];
    }
    const output = this.#rowsOf(card, columns);
    this.#pageRows = room;
    this.#top = Math.max(0, Math.min(this.#top, output.length - room));
    const end = Math.min(output.length, this.#top + room);
    const place = `${(this.#top + 1).toLocaleString('en')}–${end.toLocaleString('en')} of ${countOf(output.length)}`;
    return [toHead(card, { paint, columns, place }), ...output.slice(this.#top, end), keys(PAGER_KEYS)];
  }

  #select(by: number): void {
    this.#selected = Math.max(0, Math.min(this.#cards.length - 1, this.#selected + by));
  }

  #fold(isFolded: boolean): void {
    if (isFolded) this.#unfolded.delete(this.#selected);
    else this.#unfolded.add(this.#selected);
  }

  /** Unfolds all; folds all if none is folded. */
  #foldAll(): void {
    const isUnfolded = this.#unfolded.size === this.#cards.length;
    this.#unfolded = new Set(isUnfolded ? [] : this.#cards.keys());
  }

  #show(lines: number): void {
    this.#shown = Math.max(LEAST_LINES, Math.min(MOST_LINES, lines));
  }

  #turnTo(row: number | undefined): void {
    this.#top = row;
  }

  #turnBy(rows: number): void {
    this.#top = (this.#top ?? 0) + rows;
  }

  #turnToCall(by: number): void {
    this.#select(by);
    this.#top = 0;
  }

  /** The rows around the selected card: it is always visible, with as much of its output as fits. */
  #list(size: Size): string[] {
    const own = this.#block(this.#selected, size).slice(0, size.rows);
    const left = size.rows - own.length;
    const before = this.#blocks(-1, left, size);
    const after = this.#blocks(1, left, size);
    const below = after.slice(0, Math.max(left - before.length, Math.ceil(left / 2)));
    const above = before.slice(Math.max(0, before.length - (left - below.length)));
    return [...above, ...own, ...below];
  }

  /** The rows before or after the selected card, at most about so many. */
  #blocks(direction: -1 | 1, most: number, size: Size): string[] {
    let rows: string[] = [];
    for (let at = this.#selected + direction; rows.length < most && this.#cards[at] !== undefined; at += direction) {
      const block = this.#block(at, size);
      rows = direction === 1 ? [...rows, ...block] : [...block, ...rows];
    }
    return rows;
  }

  #block(index: number, { paint, columns }: Size): string[] {
    const card = this.#cards[index];
    if (card === undefined) return [];
    const count = card.output.trimEnd() === '' ? 0 : card.output.trimEnd().split('\n').length;
    const isUnfolded = this.#unfolded.has(index);
    const fold = isUnfolded ? '▾' : '▸';
    const head = toHead(card, { paint, columns, place: countOf(count), fold, isSelected: index === this.#selected });
    if (!isUnfolded) return [head];
    const lines = toSafeText(card.output).trimEnd().split('\n').slice(0, this.#shown);
    const left = count - lines.length;
    const rest = left > 0 ? [`    … ${countOf(left)} more`] : [];
    return [
      head,
      ...[...lines.map((line) => `    ${line}`), ...rest].map((line) => paint('dim', cutToRow(line, columns))),
    ];
  }

  #rowsOf(card: Card, columns: number): readonly string[] {
    if (this.#wrapped?.card !== card || this.#wrapped.columns !== columns) {
      const text = toSafeText(card.output).trimEnd() || '(no output)';
      this.#wrapped = { card, columns, rows: text.split('\n').flatMap((line) => toRows(line, columns)) };
    }
    return this.#wrapped.rows;
  }
}

type Keys = Readonly<Record<string, () => void>>;

/** A sign as it was typed, or the name of the key. */
function nameOf(text: string | undefined, { ctrl, name = '' }: Key): string {
  if (ctrl === true) return `ctrl-${name}`;
  if (text === ' ') return 'space';
  return text !== undefined && text > ' ' && text.length === 1 && text !== '\x7f' ? text : name;
}

interface HeadStyle {
  paint: Paint;
  columns: number;
  /** How much of it there is, or which part is shown. */
  place: string;
  fold?: string;
  isSelected?: boolean;
}

function toHead({ name, subject, isDone }: Card, { paint, columns, place, fold, isSelected }: HeadStyle): string {
  const mark = isDone ? paint('green', '✔') : paint('red', '✖');
  const title = paint(isSelected === true ? ['bold', 'cyan'] : 'bold', name);
  const sign = fold === undefined ? '' : `${isSelected === true ? '›' : ' '} ${fold} `;
  const begin = cutToRow(`${sign}${mark} ${title} ${subject}`.trimEnd(), Math.max(10, columns - place.length - 3));
  return cutToRow(`${begin} ${paint('dim', `(${place})`)}`, columns);
}
