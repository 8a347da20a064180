import type { Mode } from '../../protocol/events/modes.ts';
import type { ParamsInput } from '../../protocol/index.ts';
import { resolveFolder, type Surroundings } from '../home/home-path.ts';

/** The flags that describe a new workstream. */
export interface NewWorkstreamFlags {
  ws?: string | undefined;
  workdir?: string | undefined;
  model?: string | undefined;
  mode?: Mode | undefined;
  /** Labels that its machine needs. */
  machineLabel?: readonly string[] | undefined;
}

/** Whether a flag describes a workstream that does not exist yet. */
export const describesNew = ({ workdir, model, mode, machineLabel }: NewWorkstreamFlags): boolean =>
  [workdir, model, mode, machineLabel].some((flag) => flag !== undefined);

/** Why these flags are refused for a workstream that exists. */
export const existsAlready = (ws: string | undefined): string =>
  `The workstream ${ws} exists, but --workdir, --model, --machine-label and --mode apply only to a new one.`;

/** The params of `workstream.create`; a folder may start with `~/`, as for `headgate start`. */
export const toNewWorkstream = (
  { ws, workdir, model, mode, machineLabel }: NewWorkstreamFlags,
  around: Surroundings,
): ParamsInput<'workstream.create'> => ({
  ...(ws !== undefined && { name: ws }),
  ...(workdir !== undefined && { workdir: resolveFolder(workdir, around) }),
  ...(model !== undefined && { model }),
  ...(mode !== undefined && { mode }),
  ...(machineLabel !== undefined && { machineLabels: [...machineLabel] }),
});
