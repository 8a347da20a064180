import type { EffectKind } from '../../../../protocol/events/call-effects.ts';
import type { ArithmeticUses } from '../reading/arithmetic.ts';
import type { Findings } from '../reading/findings.ts';
import type { Scope } from '../reading/scope.ts';
import type { ShellWord } from '../reading/shell-word.ts';
import { addHost, addPath } from './targets.ts';

/** What a command reads as its input: text that is known, or anything else. */
export type Stdin =
  | { kind: 'text'; text: string }
  /** Paths below these folders, each ended by NUL. */
  | { kind: 'paths'; within: readonly string[]; mayBeLinks: boolean }
  | { kind: 'unknown' };

/** Reads what a program starts. */
export interface NestedReader {
  /** Shell code, such as that of `sh -c`. */
  script(text: string, scope: Scope): void;
  /** A command as words, such as that of `xargs`. */
  words(words: readonly ShellWord[], place: { scope: Scope; stdin: Stdin; startedBy: string }): void;
}

/** One call of a known program. */
export interface ProgramCall {
  /** Without folders. */
  name: string;
  args: readonly ShellWord[];
  scope: Scope;
  stdin: Stdin;
  findings: Findings;
  arithmetic: ArithmeticUses;
  reader: NestedReader;
}

/** Adds the effects of a call. It must not miss one: what it does not understand, it adds as unknown. */
export type ProgramRule = (call: ProgramCall) => void;

/** What a word of a call is used for: an effect on a path or host, another effect, or none. */
export type Use = 'flag' | 'value' | 'host' | 'list' | EffectKind;

/** Adds an effect that names no path. */
export function addEffect({ findings }: ProgramCall, kind: EffectKind, target?: string): void {
  findings.addEffect({ kind, ...(target !== undefined && { target }), certain: true });
}

/** Adds the use of a word as an effect; uses without an effect add none. */
export function addUse(call: ProgramCall, use: Use, word: ShellWord): void {
  switch (use) {
    case 'flag':
    case 'value':
      return;
    case 'read':
    case 'write':
    case 'delete':
    case 'list':
      addPath(call, use, word);
      return;
    case 'host':
      addHost(call, word);
      return;
    default:
      call.findings.addEffect({ kind: use, target: word.written, certain: word.value !== undefined });
  }
}

/** Adds that the call may do anything, and which word is the reason. */
export const addUnknown = ({ findings, name }: Pick<ProgramCall, 'findings' | 'name'>, word?: ShellWord): void =>
  findings.addEffect({
    kind: 'unknown',
    target: word === undefined ? name : `${name} ${word.written}`,
    certain: false,
  });
