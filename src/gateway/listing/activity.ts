import type { Activity } from '../../../protocol/methods/conversation/listing.ts';
import { toPlainName } from '../../../protocol/text/plain-text.ts';
import type { LiveRun } from '../runs/live-run.ts';
import type { Workstream } from '../workstreams/workstream.ts';

/** What a workstream does now, for lists: one line, which is empty when it does nothing. */
export function activityOf({ current, data }: Pick<Workstream, 'current' | 'data'>): {
  activity: string;
  activityState: Activity;
} {
  if (data.state === 'attention' && current) return { activity: askedIn(current), activityState: 'approval' };
  if (data.state === 'running' && current) return { activity: calledIn(current), activityState: 'tool' };
  if (data.state === 'thinking') return { activity: '', activityState: 'thinking' };
  return { activity: '', activityState: 'idle' };
}

const askedIn = (run: LiveRun): string => {
  const items = run.pendingApproval()?.items ?? [];
  return shorten(items.map(({ header }) => header).join(', '));
};

/** The calls that have begun and not ended. */
function calledIn({ progress: { calls, tools } }: LiveRun): string {
  const running = calls.filter(({ id }) => tools.get(id)?.state === 'started');
  return shorten(running.map(({ name }) => name).join(', '));
}

const MOST_CHARS = 200;

function shorten(text: string): string {
  const line = toPlainName(text);
  return line.length <= MOST_CHARS ? line : `${line.slice(0, MOST_CHARS - 1)}…`;
}
