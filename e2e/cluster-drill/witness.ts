import { queryPostgres } from '../../src/testing/postgres-server.ts';
import { ACTIVE, movingFrom, type Write } from '../checker/cluster/cluster-evidence.ts';
import { DAEMON_LEASE } from '../checker/cluster/owner-rules.ts';

/** Records in each transaction that writes whose connection it is, who holds the leases, and whose the workstreams are. */
export interface Witness {
  /** The writes since the last time. */
  take(): Promise<Write[]>;
}

/** The tables in which daemons store their work, and how the workstream of a row is found, if not in `ws_id`. */
const WATCHED: Record<string, string | undefined> = {
  ...{ events: undefined, messages: undefined, runs: undefined, approvals: undefined, workstreams: undefined },
  ...{ cuts: undefined, sub_agents: undefined, watches: undefined },
  journal: `select distinct coalesce(runs.ws_id, sub_agents.ws_id) as ws_id from changed
    left join headgate.runs on runs.run_id = changed.run_id
    left join headgate.sub_agents on sub_agents.agent_id = changed.run_id`,
};

const OWN = 'select distinct ws_id from changed';

/** Whoever gives a workstream to another machine had it before; whoever takes one over marks it as moving. */
const GIVEN = `select before.ws_id, before.machine from before join changed using (ws_id)
  where before.machine is distinct from changed.machine
    and coalesce(before.machine, '') not like 'moving %' and coalesce(changed.machine, '') not like 'moving %'`;
const NONE_GIVEN = 'select ws_id, machine from headgate.workstreams where false';

/** Each has a function of its own, because a name stands for one query in all calls of a function. */
const installOne = (table: string, rows: string, verb: string): string => `
  create function witness.note_${verb}_${table}() returns trigger language plpgsql as $$
  begin
    insert into witness.writes (port, pid, leases, written, ws_id, owner)
      select inet_client_port(), pg_backend_pid(), held.leases, '${table}', touched.ws_id,
        case when given.ws_id is not null then coalesce(given.machine, '')
          when workstreams.ws_id is not null then coalesce(workstreams.machine, '') end
      from (${rows}) as touched
      cross join (
        select json_agg(json_build_array(name, epoch, pid,
          case when owner <> '' and expires_at <> '-infinity' then node_id end) order by name)::text as leases
        from headgate.leases
      ) as held
      left join (${table === 'workstreams' && verb === 'update' ? GIVEN : NONE_GIVEN}) as given on given.ws_id = touched.ws_id
      left join headgate.workstreams on workstreams.ws_id = touched.ws_id;
    return null;
  end $$;
  create trigger witness_${verb} after ${verb} on headgate.${table}
    referencing ${REFERENCES[verb]}
    for each statement execute function witness.note_${verb}_${table}();`;

const REFERENCES: Record<string, string> = {
  insert: 'new table as changed',
  update: 'old table as before new table as changed',
  delete: 'old table as changed',
};

const installFor = ([table, rows = OWN]: [string, string | undefined]): string =>
  Object.keys(REFERENCES)
    .map((verb) => installOne(table, rows, verb))
    .join('\n');

const INSTALL = `
  create schema witness;
  create table witness.writes (
    number bigserial primary key, port int, pid int, leases text, written text, ws_id text, owner text
  );
  ${Object.entries(WATCHED).map(installFor).join('\n')}`;

/** Apart for each time that an owner had a workstream, because it may come back. */
const TAKE = `with gone as (delete from witness.writes returning *),
  marked as (
    select *, owner is distinct from lag(owner) over (partition by ws_id order by number) as has_changed from gone
  ),
  counted as (
    select *, count(*) filter (where has_changed) over (partition by ws_id order by number) as period from marked
  )
  select min(number) as first, max(number) as last, port, pid, leases, written, ws_id, owner from counted
  group by port, pid, leases, written, ws_id, owner, period order by 1`;

interface Witnessed {
  name: string;
  nodeId: string;
  isWorker: boolean;
}

interface Names {
  /** Several machines may have used a port, one after the other; `likely` is named if it is one of them. */
  ofPort(port: number, likely: string | undefined): Witnessed | undefined;
  /** The name of a machine; undefined if it is none of the cluster. */
  ofNode(nodeId: string): string | undefined;
}

/** Needs the tables that the first daemon makes. */
export async function installWitness(url: string, names: Names): Promise<Witness> {
  await queryPostgres(url, INSTALL);
  return {
    take: async () => (await queryPostgres(url, TAKE)).map((row) => toWrite(row, names)),
  };
}

/** A lease as the triggers note it: its name, its epoch, the session that writes under it, and its holder. */
type NotedLease = [name: string, epoch: number, pid: number, holder: string | null];

const WORKER_LEASE = /^worker (.*)$/;
const MOVING = /^moving (.*)$/;
const NOBODY = 'nobody';

function toWrite(row: Record<string, unknown>, { ofPort, ofNode }: Names): Write {
  const noted: NotedLease[] = JSON.parse(String(row.leases));
  const leases = noted.map(([name, epoch, pid, holder]) => {
    const [, worker] = WORKER_LEASE.exec(name) ?? [];
    return { of: worker === undefined ? name : (ofNode(worker) ?? worker), epoch, pid, holder: holder ?? undefined };
  });
  const { pid, port } = { pid: Number(row.pid), port: Number(row.port) };
  const likely = leases.find((lease) => lease.pid === pid)?.holder;
  const writer = ofPort(port, likely);
  const lease = writer?.isWorker ? writer.name : DAEMON_LEASE;
  const { epoch = 0, holder } = leases.find(({ of }) => of === lease) ?? {};
  const owner = ownerOf(row.owner, ofNode);
  return {
    first: Number(row.first),
    last: Number(row.last),
    session: `${pid} from port ${port}`,
    machine: writer?.name ?? `port ${port}`,
    lease,
    holder: (holder && ofNode(holder)) ?? NOBODY,
    epoch,
    epochs: Object.fromEntries(leases.map((one) => [one.of, one.epoch])),
    table: String(row.written),
    wsId: String(row.ws_id),
    ...(owner !== undefined && { owner }),
  };
}

function ownerOf(machine: unknown, ofNode: Names['ofNode']): string | undefined {
  if (typeof machine !== 'string') return undefined;
  if (machine === '') return ACTIVE;
  const [, former] = MOVING.exec(machine) ?? [];
  return former === undefined ? (ofNode(machine) ?? machine) : movingFrom(ofNode(former) ?? former);
}
