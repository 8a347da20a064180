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
  /** Whether a command changes the folder. */
  changesFolder = false;
  /** Whether a loop or function was read, which may run in another folder than where it is written. */
  readsLater = false;
  /** All functions that the command may define. */
  readonly functions = new Set<string>();

  /** Throws ReadingTooLong once too much was read. */
  spend(characters: number): void {
    this.#charactersLeft -= characters + 1;
    if (this.#charactersLeft < 0) throw new ReadingTooLong();
  }

  addCommand(command: ReadCommand): void {
    this.#wordsLeft -= command.words.length;
    if (this.#commands.length >= MAX_COMMANDS || this.#wordsLeft < 0) throw new ReadingTooLong();
    this.#commands.push(command);
  }

  addEffect(effect: Effect): void {
    this.#effects.set(JSON.stringify(effect), effect);
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
