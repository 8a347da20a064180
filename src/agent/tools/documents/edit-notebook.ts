import { createHash } from 'node:crypto';
import { z } from 'zod';
import { isRecord } from '../../../../protocol/is-record.ts';
import { type FileVersion, readVersion } from '../files/confined-file.ts';
import type { AllowedPlace, Confinement } from '../files/confinement.ts';
import { prepareAt } from '../files/file-call.ts';
import { checkSeen } from '../files/read-history.ts';
import type { Tool } from '../tool.ts';
import { ToolProblem } from '../tool-problem.ts';
import { prepareReplacement } from '../write-file.ts';
import { parseExactly } from './exact-json.ts';
import { type Notebook, parseNotebook } from './notebook.ts';

const EditNotebookArguments = z
  .strictObject({
    path: z.string().max(4_096).describe('Path of the .ipynb file, relative to the working directory or absolute'),
    action: z.enum(['replace', 'insert', 'delete']),
    cell: z
      .int()
      .min(0)
      .max(100_000)
      .describe(
        'The number of the cell as read_file shows it, from 1. insert puts the new cell after it; 0: at the beginning',
      ),
    source: z.string().max(1_000_000).optional().describe('The whole new source; not for delete'),
    cell_type: z
      .enum(['code', 'markdown', 'raw'])
      .optional()
      .describe('Default: that of the replaced cell, or code for a new one'),
  })
  .refine(({ action, source }) => (action === 'delete') === (source === undefined), {
    message: 'replace and insert need a source; delete takes none',
  });
type EditNotebookArguments = z.infer<typeof EditNotebookArguments>;

/** Replaces, inserts or deletes one cell of a notebook that the model has read, after showing the diff. */
export function createEditNotebookTool({ confinement }: { confinement: Confinement }): Tool<EditNotebookArguments> {
  return {
    name: 'edit_notebook',
    description: [
      'Replaces, inserts or deletes a cell of a Jupyter notebook that was read before. The outputs of a replaced cell are',
      'removed, as they belong to its former source.',
    ].join(' '),
    parameters: EditNotebookArguments,
    readOnly: false,
    safeToRepeat: false,
    newText: ({ source = '' }) => source,
    async prepare(args, context) {
      const call = { tool: 'edit_notebook', path: args.path, context, confinement };
      return prepareAt(call, async (place) => {
        const old = await readVersion(place);
        if (!old) throw new ToolProblem(`${place.shown}: no such file.`);
        checkSeen(place, { old, history: context.history, before: 'editing' });
        return prepareReplacement(call, { place, old, text: toNewText(old, place, args), label: 'edit_notebook' });
      });
    },
  };
}

function toNewText(old: FileVersion, { shown }: AllowedPlace, args: EditNotebookArguments): string {
  const notebook = parseNotebook(old.text);
  const exact = notebook && parseExactly(old.text);
  if (!isRecord(exact) || !Array.isArray(exact.cells) || !notebook)
    throw new ToolProblem(`${shown} is not a notebook of version 4; edit_file changes it as text.`);
  const { cells } = notebook;
  const least = args.action === 'insert' ? 0 : 1;
  if (args.cell < least || args.cell > cells.length)
    throw new ToolProblem(`${shown} has ${cells.length} cells; there is no cell ${args.cell}.`);
  return toFileText({ ...exact, cells: toNewCells(exact.cells, { notebook, old, args }) }, old.text);
}

interface Edit {
  notebook: Notebook;
  old: FileVersion;
  args: EditNotebookArguments;
}

/** `cells`: those of the notebook, exactly as they are. */
function toNewCells(cells: readonly unknown[], { notebook, old, args }: Edit): unknown[] {
  const { action, cell, source = '' } = args;
  switch (action) {
    case 'delete':
      return cells.toSpliced(cell - 1, 1);
    case 'insert':
      return cells.toSpliced(cell, 0, {
        ...(hasIds(notebook) && { id: toId(old, args) }),
        ...toCell({ type: args.cell_type ?? 'code', source, metadata: {} }),
      });
    case 'replace': {
      const former = cells[cell - 1];
      const { source: _, outputs: _outputs, execution_count: _count, ...rest } = isRecord(former) ? former : {};
      const type = args.cell_type ?? notebook.cells[cell - 1]?.cell_type ?? 'code';
      return cells.with(cell - 1, { ...rest, ...toCell({ type, source, metadata: rest.metadata ?? {} }) });
    }
  }
}

/** Since version 4.5 each cell has an id. */
const hasIds = ({ nbformat, nbformat_minor = 0 }: Omit<Notebook, 'cells'>): boolean =>
  Number(nbformat) > 4 || Number(nbformat_minor) >= 5;

/** The same for the same call, because preparing it again must give the same file. */
const toId = ({ sha256 }: FileVersion, args: EditNotebookArguments): string =>
  createHash('sha256')
    .update(JSON.stringify([sha256, args]))
    .digest('hex')
    .slice(0, 8);

const toCell = ({ type, source, metadata }: { type: string; source: string; metadata: unknown }) => ({
  cell_type: type,
  metadata,
  source: source.split(/(?<=\n)/),
  ...(type === 'code' && { execution_count: null, outputs: [] }),
});

/** With the indentation and the line ends of the file, so that the diff shows only the change. */
function toFileText(notebook: object, former: string): string {
  const indent = /^\{\r?\n([ \t]+)/.exec(former)?.[1] ?? (former.includes('\n') ? ' ' : '');
  const text = `${JSON.stringify(notebook, undefined, indent)}${former.endsWith('\n') ? '\n' : ''}`;
  const hasOnlyCrlf = former.includes('\r\n') && !/(?<!\r)\n/.test(former);
  return hasOnlyCrlf ? text.replaceAll('\n', '\r\n') : text;
}
