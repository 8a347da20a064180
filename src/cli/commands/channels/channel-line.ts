import type { ChannelHealthRow } from '../../../../protocol/methods/channels/channel.ts';
import { toDistance } from '../../local-time.ts';

const NAMES: Record<string, string> = { telegram: 'Telegram', whatsapp: 'WhatsApp' };

/** A chat service in one line: `polling (since 3 h ago), last message in 5 min ago, out 4 min ago; backlog 0, waiting 0`. */
export function toChannelLine(row: ChannelHealthRow, nowMs: number): [name: string, text: string] {
  const { channel, state, why, sinceMs, lastInAtMs, lastOutAtMs, backlog, waiting } = row;
  const ago = (atMs: number | undefined) => (atMs === undefined ? 'never' : toDistance(atMs, nowMs));
  const about = `${state} (since ${ago(sinceMs)}), last message in ${ago(lastInAtMs)}, out ${ago(lastOutAtMs)}`;
  const because = why === undefined ? '' : `. ${why}`;
  return [NAMES[channel] ?? channel, `${about}; backlog ${backlog}, waiting ${waiting}${because}`];
}
