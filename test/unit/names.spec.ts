import { addressesInHostsFile, namesToAskFor, parseSearchList } from '#platform/http/names/names.js';

describe('A hosts file', () => {
  const FILE = [
    '# 10.9.9.9 commented',
    '127.0.0.1\tlocalhost',
    '10.0.0.1  receiver.corp Receiver # the first',
    ' fd00::1 receiver.corp\r',
    'receiver.corp 10.0.0.2',
    '10.0.0.3',
    'fe80::1%lo0 linked',
  ].join('\n');

  it.each<[string, string[] | undefined]>([
    ['commented', undefined],
    ['first', undefined],
    ['10.0.0.2', undefined],
    ['corp', undefined],
    ['receiver', ['10.0.0.1']],
    ['RECEIVER.corp', ['10.0.0.1', 'fd00::1']],
    ['linked', ['fe80::1%lo0']],
    ['localhost', ['127.0.0.1']],
  ])('says of %s: %j', (name, addresses) => {
    expect(addressesInHostsFile(FILE, name)?.map(({ address }) => address)).toEqual(addresses);
  });

  it.each(['localhost', 'api.LOCALHOST'])('need not know %s, which is this machine everywhere', (name) => {
    expect(addressesInHostsFile('', name)).toEqual([
      { address: '127.0.0.1', family: 4 },
      { address: '::1', family: 6 },
    ]);
  });

  it('does not take another name for this machine', () => {
    expect(addressesInHostsFile('', 'notlocalhost')).toBeUndefined();
    expect(addressesInHostsFile('', 'localhost.example')).toBeUndefined();
  });
});

describe('A resolv.conf', () => {
  // As Kubernetes, Docker, a machine with a domain, systemd-resolved and one without any have it.
  const CLUSTER =
    'search shop.svc.cluster.local svc.cluster.local cluster.local\nnameserver 10.96.0.10\noptions ndots:5';
  it.each<[string, string, string, string[]]>([
    [
      'a service of a cluster',
      CLUSTER,
      'receiver',
      ['receiver.shop.svc.cluster.local', 'receiver.svc.cluster.local', 'receiver.cluster.local', 'receiver'],
    ],
    [
      'a public name in a cluster',
      CLUSTER,
      'hooks.example.com',
      [
        'hooks.example.com.shop.svc.cluster.local',
        'hooks.example.com.svc.cluster.local',
        'hooks.example.com.cluster.local',
        'hooks.example.com',
      ],
    ],
    [
      'a whole name in a cluster',
      CLUSTER,
      'a.b.c.d.e.example',
      [
        'a.b.c.d.e.example',
        'a.b.c.d.e.example.shop.svc.cluster.local',
        'a.b.c.d.e.example.svc.cluster.local',
        'a.b.c.d.e.example.cluster.local',
      ],
    ],
    ['a container', 'nameserver 127.0.0.11\noptions edns0 trust-ad ndots:0', 'receiver', ['receiver']],
    ['a name of one label', 'search corp.example', 'receiver', ['receiver.corp.example', 'receiver']],
    [
      'a name of two',
      'search corp.example',
      'receiver.north',
      ['receiver.north', 'receiver.north.corp.example'],
    ],
    [
      'the last of several lists',
      'search one.example\ndomain two.example three.example # and this',
      'receiver',
      ['receiver.two.example', 'receiver'],
    ],
    ['an empty list', 'nameserver 127.0.0.53\noptions edns0\nsearch .', 'receiver', ['receiver']],
    [
      'more dots than there may be',
      'search corp.example\noptions ndots:99',
      'a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p',
      ['a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p', 'a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.corp.example'],
    ],
    ['a comment', '; search corp.example', 'receiver', ['receiver']],
    ['nothing', '', 'receiver', ['receiver']],
  ])('leads to %s', (_, text, name, names) => {
    expect(namesToAskFor(name, parseSearchList(text, 'machine'))).toEqual(names);
  });

  it('without a list means the domain of this machine', () => {
    expect(namesToAskFor('receiver', parseSearchList('', 'machine.corp.example'))).toEqual([
      'receiver.corp.example',
      'receiver',
    ]);
    expect(
      namesToAskFor('receiver', parseSearchList('search other.example', 'machine.corp.example')),
    ).toEqual(['receiver.other.example', 'receiver']);
  });
});
