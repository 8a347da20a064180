import type { ParamsInput } from '../../protocol/index.ts';
import { resolveFolder, type Surroundings } from '../home/home-path.ts';

/** The flags that describe a workstream to be made. */
export interface NewWorkstreamFlags {
  ws?: string | undefined;
  workdir?: string | undefined;
  model?: string | undefined;
}

/** What the daemon is asked for; a folder may start with `~/`, as for `headgate start`. */
export const toNewWorkstream = (
  { ws, workdir, model }: NewWorkstreamFlags,
  around: Surroundings,
): ParamsInput<'workstream.create'> => ({
  ...(ws !== undefined && { name: ws }),
  ...(workdir !== undefined && { workdir: resolveFolder(workdir, around) }),
  ...(model !== undefined && { model }),
});
