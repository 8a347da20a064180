import type { Tokens } from 'marked';
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { directionOf } from '../../state/text/direction.ts';
import { CopyButton } from './code.tsx';
import { useStepwise } from './stepwise.ts';

interface MarkdownTableProps {
  token: Tokens.Table;
  /** Rows drawn per frame. */
  step: number;
  draw(tokens: Tokens.TableCell['tokens']): ComponentChildren;
}

/** A table, to scroll sideways if it is wide, and to copy as it is written. */
export function MarkdownTable({ token: { header, rows, raw }, step, draw }: MarkdownTableProps) {
  const count = useStepwise(rows.length, step);
  return (
    <figure class="table">
      <div class="table-scroll">
        <table dir={directionOf(raw)}>
          <thead>
            <tr>
              {header.map((cell, index) => (
                <th key={index} align={cell.align ?? undefined}>
                  {draw(cell.tokens)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, count).map((row, at) => (
              <Row key={at} cells={row} draw={draw} />
            ))}
          </tbody>
        </table>
      </div>
      <CopyButton text={raw.trimEnd()} label="Copy table" />
    </figure>
  );
}

const Row = ({ cells, draw }: { cells: readonly Tokens.TableCell[] } & Pick<MarkdownTableProps, 'draw'>) =>
  useMemo(
    () => (
      <tr>
        {cells.map((cell, index) => (
          <td key={index} align={cell.align ?? undefined}>
            {draw(cell.tokens)}
          </td>
        ))}
      </tr>
    ),
    [cells.map(({ text }) => text).join('|')],
  );
