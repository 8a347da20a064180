const PREFIX = 'ws-';

/** The name of a workstream that nobody named: `ws-` and four characters of its id. */
export const generatedName = (wsId: string): string => PREFIX + wsId.slice(0, 4);

interface Named {
  wsId: string;
  sessionKey: string | null;
  name: string;
}

/** The name that a person gave, else `main` for the main workstream, else the generated name. */
export const toShownName = ({ wsId, sessionKey, name }: Named): string =>
  sessionKey === 'main' && name === generatedName(wsId) ? 'main' : name;

/** The beginning of an id, with or without the `ws-` of a generated name. */
export const toIdPrefix = (name: string): string => (name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name);
