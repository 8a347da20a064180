const PREFIX = 'ws-';

/** The name of a workstream that nobody named: `ws-` and four characters of its id. */
export const generatedName = (wsId: string): string => PREFIX + wsId.slice(0, 4);

/** The beginning of an id, with or without the `ws-` of a generated name. */
export const toIdPrefix = (name: string): string => (name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name);
