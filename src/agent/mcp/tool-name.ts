import { createHash } from 'node:crypto';

/**
 * Names of servers that people can read and rules can match. `__` separates the server from its tool. Each server has a
 * folder of its name, so `.` and `..` are none.
 */
export const SERVER_NAME = /^(?!.*__)(?!\.+$)[A-Za-z0-9._-]{1,64}$/;

/** Servers with the same key look the same to rules, or share a folder where file systems ignore case. */
export const toServerKey = (name: string): string => name.replaceAll(ODD, '_').toLowerCase();

/** What all providers accept as the name of a tool. */
const MOST = 64;
const ODD = /[^A-Za-z0-9_-]/g;

/**
 * The name by which models call a tool of a server: `mcp__server__tool`. If characters had to be replaced, or the name would be
 * too long, it ends with a part that is made from the original names, so that no two tools share one.
 */
export function toToolName(server: string, tool: string): string {
  const plain = `mcp__${server}__${tool}`;
  const safe = plain.replaceAll(ODD, '_');
  // With an underscore next to the separator, `a_` and `b` would look like `a` and `_b`.
  const isClear = !server.endsWith('_') && !tool.startsWith('_');
  if (safe === plain && isClear && plain.length <= MOST) return plain;
  const digest = createHash('sha256').update(`${server}\0${tool}`).digest('hex').slice(0, 8);
  return `${safe.slice(0, MOST - digest.length - 1)}_${digest}`;
}
