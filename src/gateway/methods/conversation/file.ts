import { GatewayError } from '../../../../protocol/errors.ts';
import type { Result } from '../../../../protocol/index.ts';
import type { fileContracts } from '../../../../protocol/methods/conversation/file.ts';
import type { Workdir } from '../../../agent/tools/workdir.ts';
import { type Workspace, WorkspaceProblem } from '../../../agent/workspace/workspace.ts';
import { type Call, type Handlers, keptOf } from '../../call.ts';
import type { Checkpoints } from '../../checkpoints/checkpoints.ts';
import { viewerOf } from '../../sharing/perception.ts';
import { whileLoaded } from '../../workstreams/closing.ts';
import type { Workdirs } from '../../workstreams/workdirs.ts';
import type { Workstreams } from '../../workstreams/workstreams.ts';

export interface FileMethodDeps {
  workstreams: Pick<Workstreams, 'get'>;
  workdirs: Pick<Workdirs, 'hold'>;
  workspace: Workspace;
  checkpoints: Pick<Checkpoints, 'discard'>;
  /** Replaces known secrets in a text. */
  clean(text: string): string;
}

type Discarded = Result<'file.discard'>;

const LISTED = 500;
const FOUND = 20;
const LINES = 1_000;

export function fileMethods({
  workstreams,
  workdirs,
  workspace,
  checkpoints,
  clean,
}: FileMethodDeps): Handlers<keyof typeof fileContracts> {
  /** Works in the folders of a workstream, as they are now. */
  const within = <T>(wsId: string, call: Call, work: (workdir: Workdir) => Promise<T>): Promise<T> =>
    whileLoaded(
      () => workstreams.get(wsId, viewerOf(call)),
      async ({ data }) => work(await workdirs.hold(data).check()).catch(toRefusal),
    );
  return {
    'file.list': ({ wsId, path = '.', offset = 0, limit = LISTED }, call) =>
      within(wsId, call, (workdir) => workspace.list(workdir, path, { offset, limit })),
    'file.find': ({ wsId, query = '', limit = FOUND }, call) =>
      within(wsId, call, (workdir) => workspace.find(workdir, query, limit)),
    'file.read': ({ wsId, path, offset = 1, limit = LINES }, call) =>
      within(wsId, call, async (workdir) => {
        const { text, ...part } = await workspace.read(workdir, path, { offset, limit });
        return { ...part, ...(text !== undefined && { text: clean(text) }) };
      }),
    'file.changes': ({ wsId }, call) =>
      within(wsId, call, async (workdir) => ({ repositories: await workspace.changes(workdir, call.signal) })),
    'file.diff': ({ wsId, path, part }, call) =>
      within(wsId, call, async (workdir) => {
        const { diff, ...rest } = await workspace.diff(workdir, { path, part }, call.signal);
        return { ...rest, ...(diff !== undefined && { diff: clean(diff) }) };
      }),
    'file.discard': async ({ wsId, path, seen }, call) => {
      const kept = keptOf<Discarded>(call);
      if (kept) return kept;
      const done = await whileLoaded(
        () => workstreams.get(wsId, viewerOf(call)),
        (workstream) =>
          checkpoints.discard(
            workstream,
            (workdir) => workspace.committed(workdir, { path, seen }, call.signal).catch(toRefusal),
            {
              decided: (planned) => [
                ...call.keep({ status: 'ok', ...planned }),
                ...call.audited({ path, runIds: planned.runIds, files: planned.changed.length }),
              ],
              failed: (whole) => call.keep({ status: 'ok', ...whole }),
            },
          ),
      );
      return { status: 'ok', ...done };
    },
  };
}

const CODES = { missing: 'NOT_FOUND', wrong_kind: 'INVALID_REQUEST', changed: 'CONFLICT' } as const;

function toRefusal(error: unknown): never {
  if (!(error instanceof WorkspaceProblem)) throw error;
  throw new GatewayError(CODES[error.kind], error.message);
}
