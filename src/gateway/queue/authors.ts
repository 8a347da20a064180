import type { RunRecord, RunRequest } from '../runs/run-record.ts';

/** As much of a run as tells who wrote its message. */
export interface Written extends Pick<RunRecord, 'principal'> {
  request: Pick<RunRequest, 'editedBy'>;
}

/** The callers who wrote the message: its run may do only what all of them may. */
export const authorsOf = ({ principal, request: { editedBy = [] } }: Written): string[] => [
  ...new Set([principal, ...editedBy]),
];

/** The caller whose words the message has now. The run acts for this one. */
export const lastAuthorOf = ({ principal, request: { editedBy = [] } }: Written): string =>
  editedBy.at(-1) ?? principal;

/** Who pays for what the run uses. */
export const spenderOf = (run: Written & Pick<RunRecord, 'runId' | 'wsId'>) => ({
  runId: run.runId,
  wsId: run.wsId,
  principal: lastAuthorOf(run),
});

/** The editors of a message after another edit; undefined: nobody but its sender has written it. */
export function editorsAfter(run: Written, by: string): string[] | undefined {
  const { editedBy = [] } = run.request;
  if (editedBy.length === 0 && by === run.principal) return undefined;
  return [...editedBy.filter((editor) => editor !== by), by];
}
