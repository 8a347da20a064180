import type {
  ClusterNode,
  ClusterOverview,
  ClusterSnapshot,
  ClusterSort,
  ClusterWorkstream,
} from '../../../protocol/cluster/cluster-methods.ts';
import type { WorkstreamState } from '../../../protocol/stream-events.ts';
import type { ClusterMember } from './cluster.ts';

export function toOverview(members: readonly ClusterMember[]): ClusterOverview {
  const all = members.flatMap(({ workstreams }) => workstreams).filter(({ waiting }) => waiting === undefined);
  const states = { running: 0, thinking: 0, attention: 0, idle: 0, error: 0 };
  for (const { state } of all) states[state] += 1;
  const reachable = members.filter(({ node }) => node.reachable);
  const versions = [...new Set(reachable.map(({ node }) => node.version))].sort();
  return {
    nodes: members.length,
    workstreams: all.length,
    states,
    totalTokens: sumOf(all.map(({ tokens }) => tokens)),
    totalToolCalls: sumOf(all.map(({ toolCalls }) => toolCalls)),
    versionDrift: versions.length > 1,
    versions,
  };
}

export const toSnapshot = (members: readonly ClusterMember[], atMs: number): ClusterSnapshot => ({
  overview: toOverview(members),
  nodes: members.map(({ node }) => node),
  workstreams: members.flatMap(({ workstreams }) => workstreams),
  atMs,
});

interface NodeQuery {
  sort?: ClusterSort | undefined;
  limit?: number | undefined;
  offset?: number | undefined;
}

export function pageOfNodes(
  members: readonly ClusterMember[],
  { sort = 'name', limit = 100, offset = 0 }: NodeQuery,
): { nodes: ClusterNode[]; total: number } {
  const busy = ({ workstreams: { attention, running, thinking } }: ClusterNode) => attention + running + thinking;
  const orders: Record<ClusterSort, (a: ClusterNode, b: ClusterNode) => number> = {
    activity: (a, b) => busy(b) - busy(a),
    tokens: (a, b) => b.totalTokens - a.totalTokens,
    name: () => 0,
  };
  const nodes = members
    .map(({ node }) => node)
    .sort((a, b) => orders[sort](a, b) || compareTexts(a.nodeId, b.nodeId))
    .slice(offset, offset + limit);
  return { nodes, total: members.length };
}

interface WorkstreamQuery {
  state?: WorkstreamState | undefined;
  nodeId?: string | undefined;
  search?: string | undefined;
  page?: number | undefined;
  perPage?: number | undefined;
  sort?: ClusterSort | undefined;
}

export function pageOfWorkstreams(
  members: readonly ClusterMember[],
  { state, nodeId, search = '', page = 1, perPage = 50, sort = 'activity' }: WorkstreamQuery,
): { workstreams: ClusterWorkstream[]; total: number; page: number; perPage: number; pages: number } {
  const wanted = search.toLowerCase();
  const found = members
    .flatMap(({ workstreams }) => workstreams)
    .filter((one) => state === undefined || one.state === state)
    .filter((one) => nodeId === undefined || one.nodeId === nodeId)
    .filter(({ wsId, name, title }) => [wsId, name, title].some((text) => text.toLowerCase().includes(wanted)))
    .sort((a, b) => ORDERS[sort](a, b) || compareTexts(a.wsId, b.wsId));
  const at = (page - 1) * perPage;
  const pages = Math.ceil(found.length / perPage);
  return { workstreams: found.slice(at, at + perPage), total: found.length, page, perPage, pages };
}

/** What a person has to do comes first. */
const RANKS: Record<WorkstreamState, number> = { attention: 0, error: 1, running: 2, thinking: 3, idle: 4 };

const ORDERS: Record<ClusterSort, (a: ClusterWorkstream, b: ClusterWorkstream) => number> = {
  activity: (a, b) => RANKS[a.state] - RANKS[b.state],
  tokens: (a, b) => b.tokens - a.tokens,
  name: (a, b) => compareTexts(a.name, b.name),
};

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0);
