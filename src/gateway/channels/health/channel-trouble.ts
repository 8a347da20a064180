import type { Notice } from '../../../../protocol/notice.ts';
import type { WatchedChannel } from './watched-channel.ts';

/** What people are told about a chat service, until it works again. */
export interface ChannelTrouble {
  /** While it stays the same, people are not told again. */
  kind: 'broken' | 'conflict' | 'silent';
  notice: Notice;
}

/** Two programs can take turns for a moment while one of them is replaced. */
const LASTING_CONFLICT_MS = 60_000;

/** What is wrong with a chat service for so long that a person has to know; undefined: nothing. */
export function findTrouble({ label, report, alertMs }: WatchedChannel): ChannelTrouble | undefined {
  const { state, why, silentMs = 0, conflictMs = 0 } = report();
  if (state === 'off') return undefined;
  const because = why === undefined ? '' : ` ${why}`;
  if (state === 'error') {
    const text = `${label} does not work until its settings change.${because}`;
    return { kind: 'broken', notice: { code: 'channel_down', level: 'error', text } };
  }
  if (conflictMs >= LASTING_CONFLICT_MS) {
    const text = `Another program receives messages of the bot at ${label}, so Headgate misses some. Stop that program, or remove its webhook.`;
    return { kind: 'conflict', notice: { code: 'channel_conflict', level: 'warning', text } };
  }
  const patienceMs = alertMs();
  if (patienceMs === undefined || silentMs < patienceMs) return undefined;
  const minutes = Math.round(patienceMs / 60_000);
  const text = `No messages have come from ${label} for ${minutes} minute${minutes === 1 ? '' : 's'}, because it cannot be asked for them.${because}`;
  return { kind: 'silent', notice: { code: 'channel_down', level: 'warning', text } };
}
