import type { HereDoc, Redirection } from 'unbash';
import type { ReadRedirection } from '../command-reading.ts';
import type { Stdin } from '../programs/program.ts';
import { addPath } from '../programs/targets.ts';
import type { ArithmeticUses } from './arithmetic.ts';
import { noteSetByName } from './assignments.ts';
import type { Findings } from './findings.ts';
import type { Scope } from './scope.ts';
import { type ShellWord, toShellWord } from './shell-word.ts';

interface Place {
  findings: Findings;
  arithmetic: ArithmeticUses;
  scope: Scope;
}

/** Adds what redirections read and write. */
export function readRedirections(redirections: readonly Redirection[], place: Place): ReadRedirection[] {
  return redirections.map((redirection) => {
    const { descriptor } = redirection;
    if (descriptor?.type === 'FileDescriptorVariable') noteSetByName(descriptor.name, place);
    if (redirection.type !== 'Redirect') return { operator: redirection.operator, target: undefined };
    const { operator } = redirection;
    const target = redirection.target && toShellWord(redirection.target, place.scope.home);
    if (target) addRedirection(operator, target, place);
    if (target && target.value === undefined) place.findings.addGap('unknown_words', target.written);
    return { operator, target };
  });
}

function addRedirection(operator: string, target: ShellWord, place: Place): void {
  const isCopy = operator === '>&' || operator === '<&';
  if (isCopy && target.value !== undefined && /^(\d+-?|-)$/.test(target.value)) return;
  if (addSocket(target, place)) return;
  if (operator !== '<' && operator !== '<&') addPath(place, 'write', target);
  if (operator.startsWith('<')) addPath(place, 'read', target);
}

const SOCKET = /^\/dev\/(tcp|udp)\//;

/** Bash connects to /dev/tcp/host/port; an unknown target may be one. */
function addSocket({ value, start, written }: ShellWord, { findings }: Place): boolean {
  if (SOCKET.test(start)) {
    const host = value?.split('/')[3];
    findings.addEffect({ kind: 'network', target: host || written, certain: host !== undefined });
    return true;
  }
  const mayBeSocket = value === undefined && ('/dev/tcp/'.startsWith(start) || '/dev/udp/'.startsWith(start));
  if (mayBeSocket) findings.addEffect({ kind: 'unknown', target: written, certain: false });
  return false;
}

/** The text that a command reads as its input, if it stands in the command. */
export function toStdin(redirections: readonly Redirection[], inherited: Stdin): Stdin {
  let stdin = inherited;
  for (const each of redirections.filter(mayBeStdin)) {
    if (each.type === 'HereDoc') stdin = toText(readHereDoc(each));
    else if (each.type === 'HereString') stdin = toText(each.target && toShellWord(each.target, undefined).value);
    // The operator may be `>`, too: `0>&3`.
    else if (each.descriptor !== undefined || each.operator.startsWith('<')) stdin = { kind: 'unknown' };
  }
  return stdin;
}

const mayBeStdin = ({ descriptor }: Redirection): boolean =>
  descriptor === undefined || (descriptor.type === 'FileDescriptor' && descriptor.value === 0);

const toText = (text: string | undefined): Stdin => (text === undefined ? { kind: 'unknown' } : { kind: 'text', text });

function readHereDoc({ body, delimiter, operator }: HereDoc): string | undefined {
  const isLiteral = delimiter?.quoted === true || !/[$`\\]/.test(body.text);
  if (!isLiteral) return undefined;
  return operator === '<<-' ? body.text.replace(/^\t+/gm, '') : body.text;
}
