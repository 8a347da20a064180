import type { EffectKind, IncompleteReason } from '../../../protocol/events/call-effects.ts';
import type { ShellWord } from './reading/shell-word.ts';

/** One effect of a command. */
export interface Effect {
  kind: EffectKind;
  /** As written in the command. */
  target?: string;
  /** The absolute path, if it is certain. A folder stands for everything in it. */
  path?: string;
  /** Whether the target is exactly that. */
  certain: boolean;
  /** The index of the command whose program has it; absent if the shell has it, as in a redirection. */
  by?: number;
  /** The absolute pattern, if the target is uncertain only because it is one. Other characters are escaped. */
  glob?: string;
  /** The folder whose repository it is: the folder itself has it, or one above. */
  repositoryOf?: string;
  /** Of a read: names, sizes and dates only, such as those that `ls` prints. */
  isListing?: true;
  /**
   * Beside the work: the program can do without, such as looking for a newer version of itself, filling a cache in the
   * home or refreshing the index of a repository.
   */
  isIncidental?: true;
  /**
   * Of a network effect: the command does not name the host, but an earlier attempt of the same command could not reach
   * it.
   */
  isUnreached?: true;
  /** Of an unknown effect: what the project's own builds, tests and hooks do. */
  isProject?: true;
}

/** A change of something that programs outside the sandbox run or obey (decision 81). */
export interface ProtectedWrite {
  /** The protected path, which is writable if the call is allowed. */
  place: string;
  /** What of it the call changes: itself, or something in it. */
  path: string;
}

/** A simple command that can run. */
export interface ReadCommand {
  /** The program and its arguments; empty if it only redirects or assigns. */
  words: readonly ShellWord[];
  /** Names of the variables that are set for it. */
  assignments: readonly string[];
  redirections: readonly ReadRedirection[];
  /** The program that starts it, such as `xargs`; absent if the shell does. */
  startedBy?: string;
  /** The working directory in which it runs; absent if that is uncertain. */
  folder?: string;
}

export interface ReadRedirection {
  operator: string;
  target: ShellWord | undefined;
}

/** Why a command is not known completely, and at which text. */
export interface Gap {
  reason: IncompleteReason;
  at: string;
}

/** What a shell command would run, and what that does. Complete without gaps. */
export interface CommandReading {
  commands: readonly ReadCommand[];
  effects: readonly Effect[];
  gaps: readonly Gap[];
}
