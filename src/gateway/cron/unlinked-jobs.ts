import { type Notice, warn } from '../../../protocol/notice.ts';
import type { Job } from '../../cron/jobs/job.ts';
import type { Channels } from '../channels/channels.ts';

/** How many jobs a notice names. */
const NAMED = 3;

/** A notice for each channel that is not set up, and that jobs deliver their answers to. */
export function unlinkedJobs(scheduler: { jobs(): Iterable<Job> }, channels: Pick<Channels, 'isLinked'>): Notice[] {
  const byChannel = new Map<string, string[]>();
  for (const { payload, enabled, name } of scheduler.jobs()) {
    if (!enabled || payload.kind !== 'agentTurn' || !payload.deliver) continue;
    const channel = payload.channel?.trim().toLowerCase() ?? '';
    if (ANY.includes(channel) || channels.isLinked(channel)) continue;
    const names = byChannel.get(channel) ?? [];
    byChannel.set(channel, [...names.slice(0, NAMED), name]);
  }
  return [...byChannel].map(([channel, names]) => {
    const named = names.slice(0, NAMED).map((name) => `"${name}"`);
    const listed = names.length > NAMED ? `${named.join(', ')} and others` : named.join(', ');
    const text = `The channel ${channel} is not set up, but jobs deliver to it: ${listed}. Set it up in config.json under channels.${channel}, or change the jobs.`;
    return warn('channel_missing', text);
  });
}

/** Values of `channel` that name no channel. */
const ANY = ['', 'last', 'webchat'];
