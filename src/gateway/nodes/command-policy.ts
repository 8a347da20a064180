import { z } from 'zod';
import { fitsStars } from '../../star-pattern.ts';

/** What may be asked of a node, besides that it has declared it: patterns of command names, `*` for any characters. */
const NodeRules = z.object({
  /** Nothing else; left out: what by its name surely runs no programs. */
  allow: z.array(z.string().min(1).max(128)).optional(),
  /** Never, whatever is allowed. */
  deny: z.array(z.string().min(1).max(128)).default([]),
});

/** By node id; `*` holds for every node, together with the node's own. */
export const NodesConfig = z.record(z.string().min(1), NodeRules);
export type NodesConfig = z.infer<typeof NodesConfig>;

/** Why a command may not be sent to a node; undefined when it may. */
export type CommandPolicy = (nodeId: string, command: string) => string | undefined;

export function createCommandPolicy(config: NodesConfig): CommandPolicy {
  return (nodeId, command) => {
    const rules = ['*', nodeId].flatMap((name) => (Object.hasOwn(config, name) ? [config[name]] : []));
    const denied = rules.flatMap((rule) => rule?.deny ?? []);
    if (denied.some((pattern) => fitsStars(pattern, command))) return 'denied by config.json';
    const allowLists = rules.flatMap((rule) => (rule?.allow === undefined ? [] : [rule.allow]));
    if (allowLists.flat().some((pattern) => fitsStars(pattern, command))) return undefined;
    if (allowLists.length > 0) return 'not allowed by config.json';
    if (isHarmless(command)) return undefined;
    return `may run programs, which config.json has to allow first, as by ${toAllowance(nodeId)}`;
  };
}

/** What to write into config.json so that a node may be sent whatever a `headgate node run` lends. */
export const toAllowance = (nodeId: string): string =>
  `nodes: {${JSON.stringify(nodeId)}: {allow: ["system.*", "file.*"]}}`;

/** A command that ends in one of these tells or shows something, or changes a file. */
const HARMLESS = new Set([
  ...['describe', 'find', 'get', 'info', 'list', 'locate', 'location', 'look', 'ping', 'read', 'search', 'stat'],
  ...['status', 'version', 'watch', 'write'],
  ...['beep', 'capture', 'notify', 'photo', 'say', 'screenshot', 'show', 'snap', 'speak', 'view'],
]);
const RUNNING = /^(run|exec|execute|spawn|shell|sh|bash|zsh|cmd|powershell|eval|script|process|terminal|pty|ssh)$/i;

/**
 * By its name, the only thing that a gateway knows of a command: `camera.snap`, `readFile`. There are more names for
 * running programs (`system.run`, `launch`, `python`) than anybody can list, so whatever is not known counts as one.
 */
function isHarmless(command: string): boolean {
  const words = command.replaceAll(/([a-z])([A-Z])/g, '$1.$2').split(/[^a-zA-Z]+/);
  const verbs = [words[0], words.at(-1)].map((word = '') => word.toLowerCase());
  return verbs.some((word) => HARMLESS.has(word)) && !words.some((word) => RUNNING.test(word));
}
