import { EffectKind } from '../../../../protocol/events/call-effects.ts';
import { dropStart, type ShellWord } from '../reading/shell-word.ts';
import type { Use } from './program.ts';

/** The options of a program, such as `-o` and `--output`, and what their values are used for. */
export type Options = ReadonlyMap<string, Use>;

/** Arguments, sorted by what the program takes them for. */
export interface SortedArguments {
  /** Options with a value. */
  values: readonly { name: string; use: Use; word: ShellWord }[];
  /** Names of all options. */
  given: ReadonlySet<string>;
  operands: readonly ShellWord[];
  /** Words that the table does not know, or that may be options. */
  strange: readonly ShellWord[];
}

interface Style {
  /** Options end at the first operand, as for `env` and `xargs`. */
  stopsAtOperand?: boolean | undefined;
}

/** Reads `-v -o:write --output:write`; without a use it is a flag. Names with a common use share it: `-a,-b:read`. */
export function toOptions(text: string): Options {
  return new Map(
    text
      .split(/\s+/)
      .filter((each) => each !== '')
      .flatMap((each) => {
        const [names = '', use = 'flag'] = each.split(':');
        return names.split(',').map((name): [string, Use] => [name, toUse(use)]);
      }),
  );
}

const USES: readonly Use[] = ['flag', 'value', 'host', 'list', ...EffectKind.options];

/** Whether a word is one of these long options, which may be shortened. */
export const mayBe = ({ start }: Pick<ShellWord, 'start'>, options: readonly string[]): boolean => {
  const [name = ''] = start.split('=', 1);
  return /^--./.test(name) && options.some((option) => option.startsWith(name));
};

/** A misspelled use counts as an unknown effect. */
const toUse = (text: string): Use => USES.find((use) => use === text) ?? 'unknown';

/** Sorts the arguments of a call as getopt does. */
export function sortArguments(args: readonly ShellWord[], options: Options, style: Style = {}): SortedArguments {
  const sorter = new Sorter(args, options, style);
  sorter.sort();
  return sorter;
}

class Sorter implements SortedArguments {
  readonly values: { name: string; use: Use; word: ShellWord }[] = [];
  readonly given = new Set<string>();
  readonly operands: ShellWord[] = [];
  readonly strange: ShellWord[] = [];
  readonly #left: ShellWord[];
  readonly #options: Options;
  readonly #style: Style;

  constructor(args: readonly ShellWord[], options: Options, style: Style) {
    this.#left = [...args];
    this.#options = options;
    this.#style = style;
  }

  sort(): void {
    for (let word = this.#left.shift(); word !== undefined; word = this.#left.shift()) {
      if (word.value === '--') {
        this.#takeRest();
        return;
      }
      if (!this.#isOption(word)) {
        this.operands.push(word);
        if (this.#style.stopsAtOperand) {
          this.#takeRest();
          return;
        }
      } else if (word.start.startsWith('--')) this.#readLong(word);
      else this.#readShort(word);
    }
  }

  #takeRest(): void {
    this.operands.push(...this.#left.splice(0));
  }

  #isOption(word: ShellWord): boolean {
    if (word.value === '-') return false;
    if (word.isFree) this.strange.push(word); // it may be one, too
    return word.start.startsWith('-');
  }

  #readLong(word: ShellWord): void {
    const [, name = word.start, equals] = /^([^=]+)(=?)/.exec(word.start) ?? [];
    const full = this.#options.has(name) ? name : this.#findAbbreviated(name);
    const use = this.#options.get(full);
    const isCutOff = word.value === undefined && equals === '';
    if (use === undefined || isCutOff) this.strange.push(word);
    else if (equals !== '') this.#add(full, use, dropStart(word, name.length + 1));
    else this.#addNext(full, use);
  }

  /** Long options may be shortened; rules ask for the whole name. One that may stand for an option with a value does. */
  #findAbbreviated(name: string): string {
    const found = [...this.#options].filter(([long, use]) => use !== 'flag' && long.startsWith(name));
    const uses = new Set(found.map(([, use]) => use));
    return uses.size === 1 ? (found[0]?.[0] ?? name) : name; // of several uses, nobody knows which
  }

  #readShort(word: ShellWord): void {
    if (word.value !== undefined && word.value.length > 2 && this.#options.get(word.value) === 'flag') {
      this.given.add(word.value); // such as `-nv`
      return;
    }
    for (let at = 1; at < word.start.length; at += 1) {
      const name = `-${word.start[at]}`;
      const use = this.#options.get(name);
      if (use === undefined) return void this.strange.push(word);
      if (use !== 'flag') {
        this.#addShortValue(name, { use, word, at });
        return;
      }
      this.given.add(name);
    }
    if (word.value === undefined) this.strange.push(word);
  }

  #addShortValue(name: string, { use, word, at }: { use: Use; word: ShellWord; at: number }): void {
    const isLast = at + 1 === word.start.length && word.value !== undefined;
    if (isLast) this.#addNext(name, use);
    else this.#add(name, use, dropStart(word, at + 1));
  }

  #addNext(name: string, use: Use): void {
    this.given.add(name);
    if (use === 'flag') return;
    const word = this.#left.shift();
    if (word?.splits) this.strange.push(word); // it may become several words
    if (word !== undefined) this.values.push({ name, use, word });
  }

  #add(name: string, use: Use, word: ShellWord): void {
    this.given.add(name);
    if (word.splits && word.isFree) this.strange.push(word); // as above
    this.values.push({ name, use, word });
  }
}
