import { skillEndpoints } from '../../../../protocol/http/skills/skill.ts';
import { bind } from '../../bind.ts';
import { iso } from '../../iso.ts';
import { toHttpSkill, toScanReport, toSkillFields } from './skill-form.ts';

const byId = ({ skill_id }: { skill_id: string }) => ({ skillId: skill_id });

export const skillRoutes = [
  bind(skillEndpoints.list, 'skill.list', {
    params: () => ({}),
    reply: ({ skills }) => ({
      skills: skills.map(({ isDefault, ...skill }) => ({ ...skill, is_default: isDefault })),
    }),
  }),
  bind(skillEndpoints.available, 'skill.available', {
    params: ({ ws_id }) => ({ wsId: ws_id }),
    reply: ({ skills, waiting, odd }) => ({
      skills: skills.map(({ name, description, origin, isApplied, isOffered, tier, folder }) => ({
        name,
        description,
        origin,
        applied: isApplied,
        offered: isOffered,
        scan_status: tier,
        folder,
      })),
      waiting: waiting.map(({ name, folder }) => ({ name, folder })),
      odd: odd.map(({ file, why }) => ({ file, why })),
    }),
  }),
  bind(skillEndpoints.details, 'skill.details', {
    params: () => ({}),
    reply: ({ skills, total }) => ({ skills: skills.map(toHttpSkill), total }),
  }),
  bind(skillEndpoints.create, 'skill.create', { params: toSkillFields, reply: toHttpSkill }),
  bind(skillEndpoints.get, 'skill.get', { params: byId, reply: toHttpSkill }),
  bind(skillEndpoints.update, 'skill.update', {
    params: (request) => ({ skillId: request.skill_id, ...toSkillFields(request) }),
    reply: toHttpSkill,
  }),
  bind(skillEndpoints.remove, 'skill.delete', { params: byId, reply: ({ status }) => ({ status }) }),
  bind(skillEndpoints.versions, 'skill.versions', {
    params: byId,
    reply: ({ versions }) => ({
      versions: versions.map(({ id, skillId, version, snapshot, changedBy, createdAtMs }) => ({
        id,
        skill_id: skillId,
        version,
        snapshot: JSON.stringify(toHttpSkill(snapshot)),
        changed_by: changedBy,
        created: iso(createdAtMs),
      })),
    }),
  }),
  bind(skillEndpoints.rescan, 'skill.rescan', {
    params: byId,
    reply: (skill) => ({
      scan_status: skill.scan.tier,
      scan_report: toScanReport(skill),
      scan_version: skill.scan.scannerVersion,
    }),
  }),
];
