import { Router } from 'express';
import type { Endpoint } from '../../protocol/http/endpoint.ts';
import type { Exchange } from './exchange.ts';
import type { EdgeHandler } from './express-classes.ts';

/** A row with its handler. */
export interface Served {
  endpoint: Endpoint;
  serve(exchange: Exchange): void;
}

/** Finds the Router for the noun of a path. */
export type FindRouter = (path: string) => Router | undefined;

/**
 * One Router per noun. The noun is the first segment of a path, or the first below /v1/api. Routers are looked up by
 * noun and not mounted, because Express would try one prefix after another.
 */
export function createRouters(rows: readonly Served[]): FindRouter {
  const byNoun = Map.groupBy(rows, ({ endpoint }) => nounOf(endpoint.path));
  const unnamed = [...byNoun].find(([noun]) => noun.includes('{'));
  if (unnamed) throw new Error(`the path of a row must begin with a noun: ${unnamed[1][0]?.endpoint.path}`);
  const routers = new Map<string, Router>();
  return (path) => {
    const noun = nounOf(path);
    const known = routers.get(noun);
    if (known) return known;
    const served = byNoun.get(noun);
    if (!served) return undefined;
    const router = toRouter(served); // only now, because patterns of paths take a while, and a start waits for them
    routers.set(noun, router);
    return router;
  };
}

function toRouter(rows: readonly Served[]): Router {
  const router = Router({ caseSensitive: true, strict: true });
  for (const { endpoint, serve } of rows.toSorted((a, b) => bySpecificity(a.endpoint.path, b.endpoint.path)))
    router[endpoint.verb](toPattern(endpoint.path), handlerOf({ endpoint, serve }));
  return router;
}

const API = '/v1/api/';

/** The path up to the slash after its noun. */
function nounOf(path: string): string {
  const end = path.indexOf('/', path.startsWith(API) ? API.length : 1);
  return end === -1 ? path : path.slice(0, end);
}

/** Sorts specific paths first: /jobs/due before /jobs/{id}, and /jobs/{id} before /jobs/{+rest}. */
function bySpecificity(one: string, other: string): number {
  const [ranks = [], others = []] = [one, other].map((path) => path.split('/').map(openness));
  for (const [at, rank] of ranks.entries()) {
    const difference = rank - (others[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

const openness = (segment: string): number => (segment.startsWith('{+') ? 2 : segment.includes('{') ? 1 : 0);

/** The path in the syntax of path-to-regexp. */
const toPattern = (path: string): string => path.replaceAll(/\{\+(\w+)\}/g, '*$1').replaceAll(/\{(\w+)\}/g, ':$1');

function handlerOf({ endpoint, serve }: Served): EdgeHandler {
  const { path, answers } = endpoint;
  const hasFields = path.includes('{');
  return (req, res, next) => {
    // Express routes HEAD to GET handlers. A stream has no end, and reading a file would be wasted work.
    if (answers !== undefined && req.method === 'HEAD') return next();
    const { exchange } = res.locals;
    exchange.endpoint = path;
    if (hasFields) exchange.fields = toFields(req.params);
    serve(exchange);
  };
}

/** Express returns a parameter that contains slashes as an array of segments. */
const toFields = (params: Readonly<Record<string, string | string[]>>): Record<string, string> =>
  Object.fromEntries(Object.entries(params).map(([name, value]) => [name, [value].flat().join('/')]));
