import type { LiveRun } from '../runs/live-run.ts';
import type { WorkstreamData } from '../workstreams/workstream-data.ts';

/** The model that the run began with. Runs of earlier versions did not record it. */
export const chosenModel = (
  { progress: { model } }: Pick<LiveRun, 'progress'>,
  { modelAlias }: Pick<WorkstreamData, 'modelAlias'>,
): string | undefined => (model === undefined ? modelAlias : model) ?? undefined;
