import type { CommandReading, Effect, Gap, ReadCommand } from '../command-reading.ts';

/** Thrown when a command is too large to read; caught by the reading itself. */
export class ReadingTooLong extends Error {}

const MAX_COMMANDS = 1_000;
/** Of all commands together. */
const MAX_WORDS = 10_000;
/** Characters of all nodes that are visited: nested code is parsed again at each level. */
const MAX_CHARACTERS = 600_000;
const MAX_GAPS = 50;

/** Collects what a reading finds, within limits of memory and time. */
export class Findings {
  readonly #commands: ReadCommand[] = [];
  readonly #effects = new Map<string, Effect>();
  readonly #gaps = new Map<string, Gap>();
  #charactersLeft = MAX_CHARACTERS;
  #wordsLeft = MAX_WORDS;
  /** The index of the command whose program is looked up now. */
  #by: number | undefined;
  /** Whether a command changes the folder. */
  changesFolder = false;
  /** Whether a loop or function was read, which may run in another folder than where it is written. */
  readsLater = false;
  /** Whether something was read, such as `$((1/0))`, with which bash may skip the rest of a line. */
  mayEndLine = false;
  /** Whether a script of several lines was read. */
  hasLines = false;
  /** All functions that the command may define. */
  readonly functions = new Set<string>();

  /** A script is read. Throws ReadingTooLong once too much was read. */
  begin(script: string): void {
    this.spend(script.length);
    this.hasLines ||= script.includes('\n');
  }

  /** Throws ReadingTooLong once too much was read. */
  spend(characters: number): void {
    this.#charactersLeft -= characters + 1;
    if (this.#charactersLeft < 0) throw new ReadingTooLong();
  }

  /** All commands so far. */
  get commands(): readonly ReadCommand[] {
    return this.#commands;
  }

  addCommand(command: ReadCommand): void {
    this.#wordsLeft -= command.words.length;
    if (this.#commands.length >= MAX_COMMANDS || this.#wordsLeft < 0) throw new ReadingTooLong();
    this.#commands.push(command);
  }

  /** Everything that `look` adds are effects of the program of the latest command. */
  whileLookedUp(look: () => void): void {
    const outer = this.#by;
    this.#by = this.#commands.length - 1;
    look();
    this.#by = outer;
  }

  /** Everything that `read` adds are effects of the shell. */
  inShell(read: () => void): void {
    const outer = this.#by;
    this.#by = undefined;
    read();
    this.#by = outer;
  }

  addEffect(effect: Omit<Effect, 'by'>): void {
    const by = this.#by;
    const whole = { ...effect, ...(by !== undefined && { by }) };
    this.#effects.set(JSON.stringify(whole), whole);
  }

  addGap(reason: Gap['reason'], at: string): void {
    if (this.#gaps.size >= MAX_GAPS && reason !== 'too_long') return;
    const gap = { reason, at: at.slice(0, 200) };
    this.#gaps.set(`${gap.reason}\n${gap.at}`, gap);
  }

  toReading(): CommandReading {
    return { commands: this.#commands, effects: [...this.#effects.values()], gaps: [...this.#gaps.values()] };
  }
}
