import { isIP } from 'node:net';
import { isRecord } from '../../../protocol/is-record.ts';
import { parseTarget } from '../../egress/proxy/proxy-target.ts';
import type { Message, ToolCall, ToolMessage } from '../message.ts';

/** More hosts than this are not asked about at once. */
const MAX_HOSTS = 8;

/**
 * The hosts that earlier attempts of exactly this command could not reach in this conversation, because nobody had allowed
 * them. They are found in the stored results, so that a restart changes nothing.
 */
export function findRefusedBefore(command: string, history: readonly Message[]): string[] {
  const results = history.filter((message) => message.role === 'tool' && message.refusedHosts !== undefined);
  if (results.length === 0) return [];
  const calls = history.flatMap((message) => (message.role === 'assistant' ? message.toolCalls : []));
  const same = new Set(calls.filter((call) => isSame(call, command)).map(({ id }) => id));
  const hosts = results.flatMap((message) =>
    message.role === 'tool' && same.has(message.callId) ? refusedIn(message) : [],
  );
  return [...new Set(hosts)].filter((host) => toTarget(host) !== undefined).slice(0, MAX_HOSTS);
}

/** Not a name that the guard has changed. */
const toTarget = (host: string) => parseTarget(isIP(host) === 6 ? `[${host}]` : host, 443);

const refusedIn = ({ refusedHosts = [] }: ToolMessage): string[] =>
  refusedHosts.filter(({ reason }) => reason === 'not_allowed').map(({ host }) => host);

const isSame = ({ name, arguments: text }: ToolCall, command: string): boolean =>
  name === 'bash' && commandIn(text) === command;

function commandIn(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value.command : undefined;
  } catch {
    return undefined; // it was refused, so it has no result with hosts
  }
}
