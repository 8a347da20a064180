import type { ParamsInput } from '../../../../protocol/index.ts';
import type { McpServer } from '../../../../protocol/methods/admin/mcp.ts';

/** The texts of the form of a server, by the names of its fields. Those that are not in the form are missing. */
export type ServerTexts = Partial<Record<string, string>>;

/** What the form of a server shows at first: lists have one entry per line. */
export function textsOf(server: McpServer) {
  const { name, transport, command, args, url, env, headers, oauth, network, folders, timeoutSecs } = server;
  return {
    name,
    transport,
    command,
    args: args.join('\n'),
    env: Object.entries(env)
      .map(([variable, value]) => `${variable}=${value}`)
      .join('\n'),
    network: network.join('\n'),
    folders: folders.join('\n'),
    url,
    headers: Object.entries(headers)
      .map(([header, value]) => `${header}: ${value}`)
      .join('\n'),
    scopes: oauth?.scopes.join(' '),
    clientId: oauth?.clientId,
    issuer: oauth?.issuer,
    clientSecret: oauth?.clientSecret,
    timeoutSecs: String(timeoutSecs),
  };
}

/**
 * What the form says of a new server, or changes in `before`. Fields that are as they were are not sent, so that they keep
 * what a form cannot show, such as a value with several lines. Throws with what is wrong.
 */
export function readServer(texts: ServerTexts, before: McpServer | undefined): ParamsInput<'mcp.create'> {
  const shown: ServerTexts = before === undefined ? {} : textsOf(before);
  const isProgram = texts.transport !== 'streamable-http';
  const changed = (field: string): string | undefined => {
    const text = texts[field]?.replaceAll('\r', '');
    return text === undefined || text === (shown[field] ?? '') ? undefined : text;
  };
  const given = {
    name: (texts.name ?? '').trim(),
    ...(changed('transport') !== undefined && { transport: isProgram ? 'stdio' : 'streamable-http' }),
    timeoutSecs: toSeconds(changed('timeoutSecs')),
    ...toSwitch('autoApprove', texts, before?.autoApprove),
  };
  if (!isProgram)
    return {
      ...given,
      url: changed('url')?.trim(),
      ...readHeaders(texts, changed),
      ...readAccounts(texts, before, changed),
    };
  return {
    ...given,
    command: changed('command')?.trim(),
    args: toLines(changed('args')),
    env: readPairs(changed('env'), '=', 'a variable is written as NAME=value'),
    network: toWords(changed('network')),
    folders: toWords(changed('folders')),
    ...toSwitch('writesFolders', texts, before?.writesFolders),
  };
}

/** With another address, all headers are sent: their masks then stand for nothing, so that the daemon asks for the values. */
function readHeaders(texts: ServerTexts, changed: (field: string) => string | undefined) {
  const text = changed('url') === undefined ? changed('headers') : texts.headers;
  return { headers: readPairs(text, ':', 'a header is written as Name: value') };
}

/** Whether each person uses the server with an account of their own, and what the daemon says of itself when they connect it. */
function readAccounts(
  texts: ServerTexts,
  before: McpServer | undefined,
  changed: (field: string) => string | undefined,
): Pick<ParamsInput<'mcp.create'>, 'authType' | 'oauth'> {
  const had = before?.authType === 'oauth_user';
  if (texts.hasAccounts !== 'on') return had ? { authType: 'none' } : {};
  const scopes = changed('scopes')
    ?.split(/\s+/)
    .filter((scope) => scope !== '');
  const trimmed = (field: string) => changed(field)?.trim();
  const oauth = {
    scopes,
    clientId: trimmed('clientId'),
    issuer: trimmed('issuer'),
    clientSecret: trimmed('clientSecret'),
  };
  const isSame = had && Object.values(oauth).every((text) => text === undefined);
  return isSame ? {} : { authType: 'oauth_user', oauth };
}

/** A ticked box is sent as `on`, and one that is not ticked is missing. */
function toSwitch(field: 'autoApprove' | 'writesFolders', texts: ServerTexts, before = false) {
  const isOn = texts[field] === 'on';
  return isOn === before ? {} : { [field]: isOn };
}

/** As they are, because spaces in an argument count. */
const toLines = (text: string | undefined): string[] | undefined => text?.split('\n').filter((line) => line !== '');

const toWords = (text: string | undefined): string[] | undefined =>
  toLines(text)
    ?.map((line) => line.trim())
    .filter((line) => line !== '');

function readPairs(text: string | undefined, mark: string, rule: string): Record<string, string> | undefined {
  const pairs = toWords(text)?.map((line): [string, string] => {
    const at = line.indexOf(mark);
    if (at < 1) throw new Error(`One line has no name before “${mark}”: ${rule}.`);
    return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
  });
  return pairs && Object.fromEntries(pairs);
}

function toSeconds(text: string | undefined): number | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  if (!/^\d+$/.test(text.trim())) throw new Error('The time limit is a number of seconds, such as 120.');
  return Number(text);
}

/** What is in a configuration file of another program. Throws with what is wrong. */
export function readConfig(text: string): Record<string, unknown> {
  if (text.trim() === '') throw new Error('Choose a file, or paste its text.');
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw new Error(`This is no JSON: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw new Error('The file has to be an object with “mcpServers”.');
  return { ...parsed };
}
