import type { TransientEvent } from '../../../protocol/events/transient.ts';
import type { StreamEventOf } from '../../../protocol/stream-events.ts';
import type { SummaryPhase } from '../../agent/run/window/summary-report.ts';

interface Transients {
  transient(wsId: string, json: string): void;
}

type CompactionEvent = Extract<TransientEvent, { type: 'compaction' }>;

/** Sends a phase of a summary that is not stored to those who watch now. */
export function tellPhase(events: Transients, wsId: string, phase: SummaryPhase): void {
  const event: CompactionEvent = { type: 'compaction', target: 'workstream', ...phase };
  events.transient(wsId, JSON.stringify(event));
}

/** The end of a stored summary. */
export const asCompaction = ({ type: _, ...summary }: StreamEventOf<'compacted'>): CompactionEvent => ({
  type: 'compaction',
  target: 'workstream',
  phase: 'end',
  ok: true,
  ...summary,
});
