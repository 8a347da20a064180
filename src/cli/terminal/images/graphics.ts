/** How a terminal shows images, and the size of its cells in pixels. */
export interface Graphics {
  kind: 'kitty' | 'sixel';
  cell: { width: number; height: number };
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Of the most common fonts; an image is scaled to whole cells anyway. */
const USUAL_CELL = { width: 10, height: 20 };
/** A question with the graphics protocol of kitty: may an image of one pixel be sent? */
const ASK_KITTY = '\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\';
const [ASK_CELL, ASK_ATTRIBUTES] = ['\x1b[16t', '\x1b[c'];
/** Sixel is the fourth of the attributes that a terminal names. */
const SIXEL = '4';

/**
 * The question which graphics a terminal has. The attributes come last, because every terminal answers this part. Kitty's own
 * question is asked only where the environment names a terminal that knows it: some others would show it as text, and
 * multiplexers do not pass it on.
 */
export const toGraphicsQuestion = (environment: Environment): string =>
  [mayBeKitty(environment) ? ASK_KITTY : '', ASK_CELL, ASK_ATTRIBUTES].join('');

function mayBeKitty({ TERM = '', TERM_PROGRAM = '', TMUX, STY, ...rest }: Environment): boolean {
  if (TMUX || STY || /^(tmux|screen)/.test(TERM)) return false;
  return /kitty|ghostty/.test(TERM) || /^(WezTerm|ghostty)$/.test(TERM_PROGRAM) || Boolean(rest.KITTY_WINDOW_ID);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the answers of terminals begin with one.
const ANSWER = /\x1b(?:_G[^\x1b]{0,200}\x1b\\|\[6;\d{1,4};\d{1,4}t|\[\?[\d;]{1,100}c)/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the beginning of an answer whose end has not come.
const BEGINNING = /\x1b(?:_(?:G[^\x1b]{0,200}\x1b?)?|\[6;[\d;]{0,9}|\[\?[\d;]{0,100})$/;

/** Takes the answers to the question out of what a terminal sends, so that they never count as keys. */
export interface GraphicsAnswers {
  /** Undefined until the terminal has answered, and if it has none. */
  readonly graphics: Graphics | undefined;
  /** Returns what a person typed. */
  filter(input: string): string;
}

export function createGraphicsAnswers(): GraphicsAnswers {
  let cell = USUAL_CELL;
  let isKitty = false;
  let state: 'asked' | 'none' | Graphics['kind'] = 'asked';
  let held = '';
  const read = (answer: string) => {
    if (answer.startsWith('\x1b_')) isKitty ||= answer.endsWith(';OK\x1b\\');
    else if (answer.endsWith('t')) cell = toCell(answer);
    else if (isKitty) state = 'kitty';
    else state = answer.slice(3, -1).split(';').includes(SIXEL) ? 'sixel' : 'none';
    return '';
  };
  return {
    get graphics() {
      return state === 'asked' || state === 'none' ? undefined : { kind: state, cell };
    },
    filter(input) {
      if (state !== 'asked') return input;
      const rest = (held + input).replace(ANSWER, read);
      held = state === 'asked' ? (BEGINNING.exec(rest)?.[0] ?? '') : '';
      return rest.slice(0, rest.length - held.length);
    },
  };
}

/** From `ESC [ 6 ; height ; width t`. */
function toCell(answer: string): Graphics['cell'] {
  const [height = 0, width = 0] = answer.slice(4, -1).split(';').map(Number);
  return width >= 4 && width <= 100 && height >= 4 && height <= 200 ? { width, height } : USUAL_CELL;
}
