import { styleText } from 'node:util';

export type Style = Parameters<typeof styleText>[0];

/** Gives a text a style; without colours, returns it unchanged. */
export type Paint = (style: Style, text: string) => string;

export const createPaint = (colours: boolean): Paint =>
  colours
    ? (style, text) => (text === '' ? '' : styleText(style, text, { validateStream: false }))
    : (_style, text) => text;

export const COLOUR_CHOICES = ['auto', 'always', 'never'] as const;
export type ColourChoice = (typeof COLOUR_CHOICES)[number];

/** `--color` wins over NO_COLOR, which wins over the kind of output. */
export function wantsColours(
  choice: ColourChoice,
  { isTerminal, environment }: { isTerminal: boolean; environment: Readonly<Record<string, string | undefined>> },
): boolean {
  if (choice !== 'auto') return choice === 'always';
  return isTerminal && !environment.NO_COLOR && environment.TERM !== 'dumb';
}
