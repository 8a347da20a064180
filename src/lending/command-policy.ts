import { z } from 'zod';
import { fitsStars } from './star-pattern.ts';

/** Which declared commands a node may be sent: patterns of command names, with `*` for any characters. */
const NodeRules = z.object({
  /** If given, only these commands. Default: the commands that are known to run no programs. */
  allow: z.array(z.string().min(1).max(128)).optional(),
  /** Never these commands, even if they are allowed. */
  deny: z.array(z.string().min(1).max(128)).default([]),
});

/** Rules by node id; those of `*` apply to every node, together with the node's own. */
export const NodesConfig = z.record(z.string().min(1), NodeRules);
export type NodesConfig = z.infer<typeof NodesConfig>;

/** Why a command must not be sent to a node; undefined if it may be sent. */
export type CommandPolicy = (nodeId: string, command: string) => string | undefined;

export function createCommandPolicy(config: NodesConfig): CommandPolicy {
  return (nodeId, command) => {
    const rules = ['*', nodeId].flatMap((name) => (Object.hasOwn(config, name) ? [config[name]] : []));
    const denied = rules.flatMap((rule) => rule?.deny ?? []);
    if (denied.some((pattern) => fitsStars(pattern, command))) return 'denied by config.json';
    const allowLists = rules.flatMap((rule) => (rule?.allow === undefined ? [] : [rule.allow]));
    if (allowLists.flat().some((pattern) => fitsStars(pattern, command))) return undefined;
    if (allowLists.length > 0) return 'not allowed by config.json';
    if (HARMLESS.has(command)) return undefined;
    return `may run programs; to allow it, add ${toAllowance(nodeId)} to config.json`;
  };
}

/** The setting for config.json that allows everything a `headgate node run` lends. */
export const toAllowance = (nodeId: string): string =>
  `nodes: {${JSON.stringify(nodeId)}: {allow: ["system.*", "file.*"]}}`;

/**
 * Commands that run no programs. Only full names count: a part of a name proves nothing about other commands such as
 * `python.read` or `sudo.write`.
 */
const HARMLESS: ReadonlySet<string> = new Set([
  ...['camera.list', 'camera.snap', 'file.read', 'file.write', 'location.get', 'system.info', 'system.notify'],
]);
