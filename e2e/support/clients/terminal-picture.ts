import type xterm from '@xterm/headless';

type Terminal = InstanceType<typeof xterm.Terminal>;

interface Run {
  text: string;
  /** Where it begins. */
  column: number;
  style: string;
}

const [CELL_WIDTH, CELL_HEIGHT, EDGE] = [8.4, 18, 12];
const [BACKGROUND, FOREGROUND] = ['#16181d', '#d7dae0'];
/** The eight colours of a terminal. */
const COLOURS = ['#16181d', '#e06c75', '#98c379', '#e5c07b', '#61afef', '#c678dd', '#56b6c2', '#d7dae0'];

/** The screen of a terminal as an SVG. */
export function toTerminalSvg(terminal: Terminal): string {
  const { cols, rows, buffer } = terminal;
  const lines = Array.from({ length: rows }, (_, row) => toRuns(terminal, buffer.active.baseY + row));
  const last = lines.findLastIndex((runs) => runs.some(({ text }) => text.trim() !== ''));
  const [width, height] = [cols * CELL_WIDTH + 2 * EDGE, (last + 1) * CELL_HEIGHT + 2 * EDGE];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width.toFixed(0)} ${height}" width="${width.toFixed(0)}">`,
    `<rect width="100%" height="100%" rx="8" fill="${BACKGROUND}"/>`,
    `<g font-family="ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="14" fill="${FOREGROUND}" xml:space="preserve">`,
    ...lines.slice(0, last + 1).flatMap((runs, row) => runs.map((run) => toText(run, row))),
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}

/** The cells of a row, put together where they look the same. */
function toRuns({ buffer, cols }: Terminal, row: number): Run[] {
  const line = buffer.active.getLine(row);
  const runs: Run[] = [];
  for (let column = 0; column < cols; column += 1) {
    const cell = line?.getCell(column);
    if (cell === undefined || cell.getWidth() === 0) continue; // the second half of a wide character
    const style = toStyle(cell);
    const text = cell.getChars() || ' ';
    const before = runs.at(-1);
    if (before?.style === style) before.text += text;
    else runs.push({ text, column, style });
  }
  return runs.map((run) => ({ ...run, text: run.text.trimEnd() })).filter(({ text }) => text !== '');
}

function toStyle(cell: xterm.IBufferCell): string {
  const colour = cell.isFgPalette() ? COLOURS[cell.getFgColor() % 8] : undefined;
  return [
    colour === undefined ? '' : ` fill="${colour}"`,
    cell.isBold() ? ' font-weight="bold"' : '',
    cell.isItalic() ? ' font-style="italic"' : '',
    cell.isDim() ? ' opacity=".6"' : '',
  ].join('');
}

/** Its width is given, so that no font moves what follows. */
function toText({ text, column, style }: Run, row: number): string {
  const indent = text.length - text.trimStart().length;
  const shown = text.slice(indent).replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`);
  const x = (EDGE + (column + indent) * CELL_WIDTH).toFixed(1);
  const length = ([...text].length - indent) * CELL_WIDTH;
  return `<text x="${x}" y="${EDGE + row * CELL_HEIGHT + 14}" textLength="${length.toFixed(1)}"${style}>${shown}</text>`;
}
