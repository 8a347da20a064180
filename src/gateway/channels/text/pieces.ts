/** Formatting that chat services know. Each use is one object: pieces with the same object belong together. */
export type Mark =
  | { kind: 'bold' | 'italic' | 'strike' | 'code' | 'quote' }
  | { kind: 'block'; language: string }
  | { kind: 'link'; href: string };

/** Text with the marks around it, the outermost first. */
export interface Piece {
  text: string;
  marks: readonly Mark[];
}

/** A text with its formatting, and the offsets at which its blocks begin. */
export interface FormattedText {
  pieces: readonly Piece[];
  blocks: readonly number[];
}

/** The text without formatting; the address of a link follows its text. */
export function toPlain(pieces: readonly Piece[]): string {
  const shown = textsOfLinks(pieces);
  /** ` (address)` after the last piece of a link whose text does not show the address. */
  const addressAfter = (index: number): string => {
    const link = linkOf(pieces[index]);
    if (!link || linkOf(pieces[index + 1]) === link) return '';
    return isShown(shown.get(link) ?? '', link.href) ? '' : ` (${link.href})`;
  };
  return pieces.map(({ text }, index) => `${text}${addressAfter(index)}`).join('');
}

/** The texts of the links, which may consist of several pieces. */
export function textsOfLinks(pieces: readonly Piece[]): ReadonlyMap<Mark, string> {
  const texts = new Map<Mark, string>();
  for (const piece of pieces) {
    const link = linkOf(piece);
    if (link) texts.set(link, `${texts.get(link) ?? ''}${piece.text}`);
  }
  return texts;
}

const linkOf = (piece: Piece | undefined) => piece?.marks.find((mark) => mark.kind === 'link');

const isShown = (text: string, href: string): boolean =>
  text === href || `mailto:${text}` === href || `http://${text}` === href || `https://${text}` === href;

/** The pieces between two offsets of the whole text. */
export function slicePieces(pieces: readonly Piece[], from: number, to: number): Piece[] {
  const found: Piece[] = [];
  let at = 0;
  for (const { text, marks } of pieces) {
    const part = text.slice(Math.max(0, from - at), Math.max(0, to - at));
    if (part !== '') found.push({ text: part, marks });
    at += text.length;
    if (at >= to) break;
  }
  return found;
}

/** How a service writes the beginning and the end of formatting. */
export interface Markup {
  open(mark: Mark): string;
  close(mark: Mark): string;
  text(piece: Piece): string;
}

/** Writes pieces, so that marks open and close in pairs. */
export function writePieces(pieces: readonly Piece[], markup: Markup): string {
  const open: Mark[] = [];
  let out = '';
  const closeFrom = (depth: number) => {
    for (const mark of open.splice(depth).reverse()) out += markup.close(mark);
  };
  for (const piece of pieces) {
    const same = open.findIndex((mark, index) => mark !== piece.marks[index]);
    closeFrom(same === -1 ? open.length : same);
    for (const mark of piece.marks.slice(open.length)) {
      out += markup.open(mark);
      open.push(mark);
    }
    out += markup.text(piece);
  }
  closeFrom(0);
  return out;
}
