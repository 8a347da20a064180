import { styleText } from 'node:util';

export type Style = Parameters<typeof styleText>[0];

/** Gives a text a style; where there are no colours, the text as it is. */
export type Paint = (style: Style, text: string) => string;

export const createPaint = (colours: boolean): Paint =>
  colours
    ? (style, text) => (text === '' ? '' : styleText(style, text, { validateStream: false }))
    : (_style, text) => text;

export const COLOUR_CHOICES = ['auto', 'always', 'never'] as const;
export type ColourChoice = (typeof COLOUR_CHOICES)[number];

/** `--color` wins over NO_COLOR, that over what the output is. */
export function wantsColours(
  choice: ColourChoice,
  { isTerminal, environment }: { isTerminal: boolean; environment: Readonly<Record<string, string | undefined>> },
): boolean {
  if (choice !== 'auto') return choice === 'always';
  return isTerminal && !environment.NO_COLOR && environment.TERM !== 'dumb';
}
