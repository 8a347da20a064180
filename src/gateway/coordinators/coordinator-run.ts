import type { StreamEvent } from '../../../protocol/stream-events.ts';
import type { Coordination } from '../../agent/coordinator/coordination.ts';
import type { Message } from '../../agent/message.ts';
import type { Toolbox } from '../../agent/tools/toolbox.ts';
import type { RunRecord } from '../runs/run-record.ts';
import type { WorkstreamData } from '../workstreams/workstream-data.ts';
import type { ChildNews } from './child-news.ts';

/** A run, as far as its coordinator uses it. */
export interface CoordinatorRun {
  run: RunRecord;
  messages: readonly Message[];
  signal: AbortSignal;
  /** Stores an event in the log of the coordinator; nothing once the run was taken over. */
  emit(event: StreamEvent): void;
}

/** What runs need of coordinators. */
export interface RunCoordinators {
  /** What coordinators are told of workstreams. */
  news: Pick<ChildNews, 'ofCreated' | 'ofClosed' | 'forget'>;
  /** The tools of a workstream, without those that were taken away from it or from a coordinator above it. */
  toolboxOf(data: Pick<WorkstreamData, 'wsId' | 'kind' | 'parentWsId'>, all: Toolbox): Toolbox;
  /** What a run of a coordinator may do with other workstreams; undefined for other runs. */
  coordinationOf(live: CoordinatorRun, data: WorkstreamData): Coordination | undefined;
}
