import { queryPostgres } from '../../src/testing/postgres-server.ts';
import type { Write } from '../checker/cluster/cluster-evidence.ts';

/** Records in each transaction that writes whose connection it is, and who holds the lease. */
export interface Witness {
  /** The writes since the last time. */
  take(): Promise<Write[]>;
}

/** The tables in which daemons store their work. */
const WATCHED = ['events', 'messages', 'runs', 'journal', 'approvals', 'workstreams'];

const INSTALL = `
  create schema witness;
  create table witness.writes (
    number bigserial primary key, port int, pid int, owner text, epoch bigint, written text
  );
  create function witness.note() returns trigger language plpgsql as $$
  begin
    insert into witness.writes (port, pid, owner, epoch, written)
      select inet_client_port(), pg_backend_pid(), node_id, epoch, tg_table_name from headgate.leases;
    return null;
  end $$;
  ${WATCHED.map(
    (table) =>
      `create trigger witness after insert or update or delete on headgate.${table} for each statement execute function witness.note();`,
  ).join('\n')}`;

interface Names {
  /** A port may have been used by several machines, one after the other: `owner` is named if it is one of them. */
  ofPort(port: number, owner: string): string;
  ofNode(nodeId: string): string;
}

/** Needs the tables that the first daemon makes. */
export async function installWitness(url: string, names: Names): Promise<Witness> {
  await queryPostgres(url, INSTALL);
  return {
    async take() {
      const rows = await queryPostgres(
        url,
        `with gone as (delete from witness.writes returning *)
           select min(number) as first, max(number) as last, port, pid, owner, epoch, written from gone
           group by port, pid, owner, epoch, written order by 1`,
      );
      return rows.map(({ first, last, port, pid, owner, epoch, written }) => ({
        first: Number(first),
        last: Number(last),
        session: `${pid} from port ${port}`,
        machine: names.ofPort(Number(port), names.ofNode(String(owner))),
        owner: names.ofNode(String(owner)),
        epoch: Number(epoch),
        table: String(written),
      }));
    },
  };
}
