import { isRecord } from '../../../../protocol/is-record.ts';
import { toVisibleLine, toVisibleText } from '../../../../protocol/text/visible-text.ts';

/** A resource of a server, or a template of the addresses of resources. */
export interface AnnouncedResource {
  /** As the server calls it; nothing here opens it. */
  uri: string;
  isTemplate: boolean;
  name: string;
  description: string;
  mimeType: string;
}

/** A prompt of a server. */
export interface AnnouncedPrompt {
  name: string;
  description: string;
  args: { name: string; description: string; isRequired: boolean }[];
}

/** What a server offers besides tools. */
export interface Catalog {
  resources: readonly AnnouncedResource[];
  prompts: readonly AnnouncedPrompt[];
}

/** Of resources, of templates, and of prompts. */
const MOST_ENTRIES = 1_000;
const MOST_ARGUMENTS = 50;
/** A longer name could not be used again, so it is not cut. */
const MOST_URI = 4_096;
const MOST_NAME = 256;
const MOST_DESCRIPTION = 1_000;

/** Reads a list of resources or templates. What nobody could ask for is left out. */
export const readResources = (
  listed: readonly unknown[],
  { isTemplate }: { isTemplate: boolean },
): AnnouncedResource[] =>
  listed.slice(0, MOST_ENTRIES).flatMap((one) => {
    if (!isRecord(one)) return [];
    const { name, title, description, mimeType } = one;
    const uri = isTemplate ? one.uriTemplate : one.uri;
    if (typeof uri !== 'string' || uri === '' || uri.length > MOST_URI || CONTROLS.test(uri)) return [];
    return [
      {
        uri,
        isTemplate,
        name: lineOf(title ?? name),
        description: textOf(description),
        mimeType: lineOf(mimeType),
      },
    ];
  });

/** In an address, they could only deceive. */
export const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}]/u;

/** Reads a list of prompts. */
export const readPrompts = (listed: readonly unknown[]): AnnouncedPrompt[] =>
  listed.slice(0, MOST_ENTRIES).flatMap((one) => {
    if (!isRecord(one)) return [];
    const { name, description } = one;
    if (typeof name !== 'string' || name === '' || name.length > MOST_NAME || CONTROLS.test(name)) return [];
    const listedArguments: unknown[] = Array.isArray(one.arguments) ? one.arguments : [];
    const args = listedArguments
      .slice(0, MOST_ARGUMENTS)
      .flatMap((argument) =>
        isRecord(argument) && typeof argument.name === 'string' && argument.name.length <= MOST_NAME
          ? [{ name: argument.name, description: textOf(argument.description), isRequired: argument.required === true }]
          : [],
      );
    return [{ name, description: textOf(description), args }];
  });

const lineOf = (value: unknown): string => (typeof value === 'string' ? toVisibleLine(value.slice(0, MOST_NAME)) : '');
const textOf = (value: unknown): string =>
  typeof value === 'string' ? toVisibleText(value.slice(0, MOST_DESCRIPTION)) : '';
