// How routers read a map of groups. Every value in it is a slug, a DNS name or the name of a group (domain/tenant/group-map.ts), and
// every key has a prefix: nginx and Caddy give names such as `default` and `include` a meaning of their own.
import type { GroupMap } from '../../domain/tenant/group-map.ts';

export const routerFormats = ['nginx', 'caddy', 'haproxy'] as const;
export type RouterFormat = (typeof routerFormats)[number];

const head = '# Written by gatehouse group map; it is written again, so change nothing here.';
/** Keys of hash tables, their number and their length in bytes: a name has at most 253. */
const nginxBucketBytes = 512;
const nginxTableFactor = 4;
const nginxTableMin = 4096;
/** Names in one regular expression. */
const namesPerExpression = 500;

const writers: Readonly<Record<RouterFormat, (map: GroupMap) => readonly string[]>> = {
  nginx: nginxLines,
  caddy: caddyLines,
  haproxy: haproxyLines,
};

export const writeMap = (format: RouterFormat, map: GroupMap): string => `${[head, ...writers[format](map)].join('\n')}\n`;

/** Variables of `http {}`: `$gatehouse_group` is the group of a request. */
function nginxLines({ fallback, hosts, slugs }: GroupMap): readonly string[] {
  return [
    `map_hash_bucket_size ${nginxBucketBytes};`,
    `map_hash_max_size ${Math.max(nginxTableMin, nginxTableFactor * Math.max(hosts.size, slugs.size))};`,
    'map $uri $gatehouse_place {',
    String.raw`    "~^(?:/\.well-known/[a-z-]+)?(?<gatehouse_tenant>/t/[^/]+)" $gatehouse_tenant;`,
    '    default "";',
    '}',
    'map $gatehouse_place $gatehouse_place_group {',
    `    default ${fallback};`,
    ...[...slugs].map(([slug, group]) => `    /t/${slug} ${group};`),
    '}',
    'map host:$host $gatehouse_group {',
    '    default $gatehouse_place_group;',
    ...[...hosts].map(([host, group]) => `    host:${host} ${group};`),
    '}',
  ];
}

/** Directives of a site: `{gatehouse_group}` is the group of a request. Caddy keeps the case of a Host. */
function caddyLines({ fallback, hosts, slugs }: GroupMap): readonly string[] {
  return [
    'map {path} {gatehouse_place} {',
    String.raw`	"~^(?:/\.well-known/[a-z-]+)?(/t/[^/]+)" "$1"`,
    '	default /',
    '}',
    'map {gatehouse_place} {gatehouse_place_group} {',
    ...[...slugs].map(([slug, group]) => `	/t/${slug} ${group}`),
    `	default ${fallback}`,
    '}',
    'map host:{host} {gatehouse_group} {',
    ...[...Map.groupBy(hosts, ([, group]) => group)].flatMap(([group, entries]) =>
      chunks(entries.map(([host]) => host.replaceAll('.', String.raw`\.`))).map(
        (names) => `	"~(?i)^host:(?:${names.join('|')})$" ${group}`,
      ),
    ),
    '	default {gatehouse_place_group}',
    '}',
  ];
}

/** A map file: a key and its group. */
function haproxyLines({ hosts, slugs }: GroupMap): readonly string[] {
  return [...[...hosts].map(([host, group]) => `${host} ${group}`), ...[...slugs].map(([slug, group]) => `/t/${slug} ${group}`)];
}

function chunks(names: readonly string[]): readonly (readonly string[])[] {
  return Array.from({ length: Math.ceil(names.length / namesPerExpression) }, (_, index) =>
    names.slice(index * namesPerExpression, (index + 1) * namesPerExpression),
  );
}
