import { examplesOf, type Operation } from './openapi.js';

/** One request of an operation in a language. */
export interface Sample {
  language: string;
  code: string;
}

interface SampleRequest {
  method: string;
  url: string;
  /** In double quotes, so that a shell puts the variable in. */
  authorization?: 'Bearer' | 'Basic';
  contentType?: string;
  body?: string;
}

const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';

/** A request of the operation in curl, Node.js, Python and Go, with the values that were recorded from the running service. */
export function samplesOf(operation: Operation, method: string, path: string, baseUrl: string): Sample[] {
  const request = requestOf(operation, method, baseUrl + path);
  return [
    { language: 'curl', code: curl(request) },
    { language: 'Node.js', code: node(request) },
    { language: 'Python', code: python(request) },
    { language: 'Go', code: go(request) },
  ];
}

function requestOf(operation: Operation, method: string, address: string): SampleRequest {
  const { parameters = [], requestBody, security = [] } = operation;
  const url = parameters
    .filter((one) => one.in === 'path' && one.example !== undefined)
    .reduce(
      (left, { name, example }) => left.replace(`{${name}}`, encodeURIComponent(String(example))),
      address,
    );
  const query = new URLSearchParams(
    parameters
      .filter((one) => one.in === 'query' && one.example !== undefined)
      .map(({ name, example }): [string, string] => [name, String(example)]),
  ).toString();
  const ways = security.flatMap((way) => Object.keys(way));
  const authorization = ways.includes('clientBasic')
    ? 'Basic'
    : ways.includes('oauth2')
      ? 'Bearer'
      : undefined;
  const [contentType, media] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const [, example] = (media && examplesOf(media)[0]) ?? [];
  return {
    method: method.toUpperCase(),
    url: query ? `${url}?${query}` : url,
    ...(authorization ? { authorization } : {}),
    ...(contentType && example !== undefined
      ? { contentType, body: contentType === FORM_TYPE ? formOf(example) : JSON.stringify(example, null, 2) }
      : {}),
  };
}

/** Of a form without the credentials, which are in the header. */
const formOf = (example: unknown): string =>
  new URLSearchParams(
    Object.entries(example as Record<string, string>).filter(([name]) => !/^client_(id|secret)$/.test(name)),
  ).toString();

const shellQuoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

function curl({ method, url, authorization, contentType, body }: SampleRequest): string {
  const lines = [
    `curl ${method === 'GET' ? '' : `--request ${method} `}${shellQuoted(url)}`,
    authorization === 'Basic' && `--user "$CLIENT_ID:$CLIENT_SECRET"`,
    authorization === 'Bearer' && `--header "Authorization: Bearer $ACCESS_TOKEN"`,
    contentType === JSON_TYPE && `--header 'Content-Type: ${contentType}'`,
    body !== undefined && `--data ${shellQuoted(body)}`,
  ];
  return lines.filter((line) => line !== false).join(' \\\n  ');
}

function node({ method, url, authorization, contentType, body }: SampleRequest): string {
  const header = {
    Basic: 'authorization: `Basic ${btoa(`${CLIENT_ID}:${CLIENT_SECRET}`)}`',
    Bearer: 'authorization: `Bearer ${ACCESS_TOKEN}`',
  };
  const headers = [
    authorization && header[authorization],
    contentType === JSON_TYPE && `'content-type': '${contentType}'`,
  ].filter(Boolean);
  const names = authorization === 'Basic' ? 'CLIENT_ID, CLIENT_SECRET' : 'ACCESS_TOKEN';
  const sent =
    contentType === FORM_TYPE
      ? `new URLSearchParams(${JSON.stringify(body)})`
      : `JSON.stringify(${indented(body ?? '', '  ')})`;
  return [
    ...(authorization ? [`const { ${names} } = process.env;`] : []),
    `const response = await fetch(${JSON.stringify(url)}, {`,
    `  method: '${method}',`,
    ...(headers.length > 0 ? [`  headers: { ${headers.join(', ')} },`] : []),
    ...(body === undefined ? [] : [`  body: ${sent},`]),
    '});',
    'console.log(response.status, await response.text());',
  ].join('\n');
}

function python({ method, url, authorization, contentType, body }: SampleRequest): string {
  const way = {
    Basic: '    auth=(os.environ["CLIENT_ID"], os.environ["CLIENT_SECRET"]),',
    Bearer: '    headers={"Authorization": f"Bearer {os.environ[\'ACCESS_TOKEN\']}"},',
  };
  const literal = indented(body ?? '', '    ')
    .replace(/: true\b/g, ': True')
    .replace(/: false\b/g, ': False')
    .replace(/: null\b/g, ': None');
  const form = JSON.stringify(Object.fromEntries(new URLSearchParams(body ?? '')));
  return [
    ...(authorization ? ['import os'] : []),
    'import requests',
    '',
    `response = requests.request(`,
    `    "${method}",`,
    `    ${JSON.stringify(url)},`,
    ...(authorization ? [way[authorization]] : []),
    ...(body === undefined ? [] : [contentType === FORM_TYPE ? `    data=${form},` : `    json=${literal},`]),
    ')',
    'print(response.status_code, response.text)',
  ].join('\n');
}

function go({ method, url, authorization, contentType, body }: SampleRequest): string {
  const reader = body === undefined ? 'nil' : `strings.NewReader(\`${body}\`)`;
  const way = {
    Basic: 'request.SetBasicAuth(os.Getenv("CLIENT_ID"), os.Getenv("CLIENT_SECRET"))',
    Bearer: 'request.Header.Set("Authorization", "Bearer "+os.Getenv("ACCESS_TOKEN"))',
  };
  return [
    `request, err := http.NewRequest("${method}", ${JSON.stringify(url)}, ${reader})`,
    'if err != nil {',
    '\tlog.Fatal(err)',
    '}',
    ...(authorization ? [way[authorization]] : []),
    ...(contentType ? [`request.Header.Set("Content-Type", "${contentType}")`] : []),
    'response, err := http.DefaultClient.Do(request)',
    'if err != nil {',
    '\tlog.Fatal(err)',
    '}',
    'defer response.Body.Close()',
    'body, err := io.ReadAll(response.Body)',
    'fmt.Println(response.StatusCode, string(body), err)',
  ].join('\n');
}

const indented = (text: string, by: string): string => text.replaceAll('\n', `\n${by}`);
