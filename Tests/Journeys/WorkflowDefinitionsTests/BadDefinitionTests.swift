import JSON
import Testing
import WorkflowDefinitions

// Every row changes one part of the sample and names the one complaint that must follow.
struct BadDefinitionTests {
    @Test(arguments: topLevel)
    func `a wrong top level is refused in its place`(_ row: BadDefinition) { row.check() }

    @Test(arguments: entries)
    func `a wrong entry is refused in its place`(_ row: BadDefinition) { row.check() }

    @Test(arguments: steps)
    func `a wrong step is refused in its place`(_ row: BadDefinition) { row.check() }

    @Test(arguments: actions)
    func `a wrong action is refused in its place`(_ row: BadDefinition) { row.check() }

    static let topLevel: [BadDefinition] = [
        .init("", "[]", "A workflow is an object, not an array"),
        .init("/dsl", "2", "\"dsl\": 1 only"),
        .init("/dsl", nil, at: "", "needs \"dsl\""),
        .init("/id", "\"Sample\"", "is not of lowercase letters"),
        .init("/id", "\"other\"", "name the file other.json"),
        .init("/id", "7", "The id is a string, not a number"),
        .init("/kind", "\"jorney\"", "is journey or automation", fix: "journey"),
        .init("/kind", nil, at: "", "needs \"kind\""),
        .init("/nmae", "\"x\"", "is not one of a workflow", fix: "name"),
        .init("/name", "\"\"", "The name is empty"),
        .init("/send/windw", "{}", at: "/send/windw", "is not one of", fix: "window"),
        .init("/partials", "{}", "an object of templates by name"),
        .init("/tags", "\"one\"", "an array of strings"),
        .init("/tags", "[\"a\", \"a\"]", at: "/tags/1", "stands twice"),
        .init("/environments", "[]", "is empty"),
        .init("/environments", "[\"Production\"]", at: "/environments/0", "a name like"),
        .init("/timezone", "\"Berlin time\"", "is not an IANA zone name"),
        .init("/exit_policy", "\"on_stop_matching\"", "read only /event"),
        .init(
            "/exit_policy", "\"on_gaol\"", "is on_goal, on_stop_matching, on_goal_or_stop or never",
            fix: "on_goal"),
        .init("/limits/time", "\"P400D\"", "is from PT1M to P366D"),
        .init("/limits/time", "\"P1Y\"", "counts years"),
        .init("/limits/time", "\"P3D\"", at: "/steps/wait/on_timeout", "add up to P3DT1H"),
        .init("/limits/steps", "0", "a whole number from 1 to 10000"),
        .init("/limits/visits", "1.5", "a whole number from 1 to 1000"),
        .init("/limits/hours", "1", "is not one of a set of limits"),
        .init("/start", nil, at: "", "needs \"start\""),
        .init("/start", "\"puase\"", "There is no step \"puase\"", fix: "pause"),
        .init("/start", "\"end\"", "The start is a step"),
        .init("/steps", nil, at: "", "needs \"steps\""),
        .init("/goal/within", "\"P367D\"", "is from PT1M to P366D"),
        .init("/goal/event", nil, at: "/goal", "A goal has exactly one of"),
        .init(
            "/goal/anchor", "{\"step\": \"wiat\"}", at: "/goal/anchor/step", "no step", fix: "wait"),
        .init("/goal/anchor", "\"start\"", "\"run_start\" or {\"step\": id}"),
        .init(
            "/goal", "{\"milestone\": \"m\"}", at: "/goal/milestone",
            "No milestone step passes \"m\""),
        .init("/goal/event", "\"trial.convertd\"", "has no event", fix: "trial.converted"),
        .init("/exits/0/event", "\"trial.converted\"", "The goal already ends the run"),
        .init("/exits/0/if", "{\"exists\": {\"ref\": \"/now\"}}", at: "/exits/0", "exactly one of"),
        .init("/exits/1/where", "{\"exists\": {\"ref\": \"/now\"}}", "belongs beside \"event\""),
        .init(
            "/exits/0/event", "\"trial.cancelled\"", at: "/steps/wait/branches/0/event",
            "An exit already ends the run on trial.cancelled"),
    ]

    static let entries: [BadDefinition] = [
        .init("/entry", "{}", "needs \"trigger\""),
        .init("/entry/once_per", "\"x\"", "a value that differs from entry to entry"),
        .init("/entry/trigger/evnt", "1", "is not one of a trigger by event", fix: "event"),
        .init("/entry/trigger/event", "[]", "1 to 50 names"),
        .init("/entry/trigger/event/0", "\"trial.strated\"", "has no event", fix: "trial.started"),
        .init("/entry/trigger/event/1", "\"cart.left\"", "is declared nowhere"),
        .init(
            "/entry/trigger/event/1", "\"checkout.opend\"", "events.json", fix: "checkout.opened"),
        .init("/entry/trigger/event/1", "\"trial.started\"", "stands twice"),
        .init("/entry/trigger/event/1", "\"connector.test\"", "reaches no run"),
        .init("/entry/trigger/event/1", "\"provider:revenuecat\"", "provider:<connector>:<TYPE>"),
        .init(
            "/entry/trigger/event/1", "\"provider:superwall:NEW\"", at: "/entry/connectors",
            "comes from the connector superwall"),
        .init("/entry/connectors", "[\"Revenue Cat\"]", at: "/entry/connectors/0", "a name like"),
        .init("/entry/connectors", "[]", "is empty"),
        .init("/entry/key", "\"subscripton\"", "A key is \"subscription\""),
        .init("/entry/key", "{\"ref\": \"/trigger/product_id\"}", "A key is \"subscription\""),
        .init(
            "/entry/key", "{\"ref\": \"/event/prodct_id\"}", at: "/entry/key/ref", "carries",
            fix: "/event/product_id"),
        .init("/entry/reentry", "\"onetime\"", "The reentry is", fix: "one_time"),
        .init(
            "/entry/reentry", "{\"once_per_window\": \"7d\"}", at: "/entry/reentry/once_per_window",
            "does not begin with P"),
        .init(
            "/entry/reentry", "{\"once_per_windw\": \"P7D\"}", at: "/entry/reentry/once_per_windw",
            "is not one of", fix: "once_per_window"),
        .init("/entry/when_live", "\"start_another\"", "needs \"reentry\": \"every_time\""),
        .init("/entry/when_live", "\"restrat\"", "when_live", fix: "restart"),
        .init(
            "/entry/where", "{\"eq\": [{\"ref\": \"/trigger/store\"}, \"x\"]}",
            at: "/entry/where/eq/0/ref", "No run exists yet"),
        .init(
            "/entry/where", "{\"eq\": [{\"ref\": \"/run/id\"}, \"x\"]}",
            at: "/entry/where/eq/0/ref", "No run exists yet"),
    ]

    static let steps: [BadDefinition] = [
        .init("/steps/pause/for", "\"PT0S\"", "is from PT1S to P366D"),
        .init("/steps/pause/for", "\"1 hour\"", "does not begin with P"),
        .init("/steps/pause/for", "3600", "a duration such as"),
        .init(
            "/steps/pause/until", "{\"ref\": \"/trigger/expires_at\"}", at: "/steps/pause",
            "exactly one of \"for\" and \"until\""),
        .init("/steps/pause/on_past", "\"end\"", "belongs beside \"until\""),
        .init("/steps/pause/at", "\"09:00\"", "belongs beside"),
        .init("/steps/pause/follow", "true", "belongs beside"),
        .init(
            "/steps/pause",
            "{\"type\": \"delay\", \"until\": {\"ref\": \"/trigger/expires_at\"}, \"next\": \"wait\"}",
            at: "/steps/pause/until", "needs \"on_past\""),
        .init(
            "/steps/pause",
            "{\"type\": \"delay\", \"until\": {\"ref\": \"/trigger/store\"}, \"next\": \"wait\", \"on_past\": \"end\"}",
            at: "/steps/pause/until", "is an instant, not a string"),
        .init("/steps/pause/next", nil, at: "/steps/pause", "A delay step needs \"next\""),
        .init("/steps/pause/next", "\"wiat\"", "There is no step \"wiat\"", fix: "wait"),
        .init("/steps/pause/nxt", "\"wait\"", "is not one of a delay step", fix: "next"),
        .init("/steps/pause/type", "\"dealy\"", "is not a step type", fix: "delay"),
        .init("/steps/pause/type", "\"grant_entitlement\"", "never grants it"),
        .init("/steps/pause/type", "\"device_available\"", "is refused"),
        .init("/steps/pause/type", "\"handoff\"", "is refused"),
        .init("/steps/pause/type", nil, at: "/steps/pause", "A step needs \"type\""),
        .init("/steps/pause", "\"x\"", "A step is an object"),
        .init("/steps/lonely", "{\"type\": \"exit\"}", "No way leads from the start"),
        .init("/steps/quit/next", "\"end\"", "An exit step has no \"next\""),
        .init("/steps/quit/reason", "\"\"", "The reason is empty"),
        .init("/steps/say/next", "\"choose\"", at: "/steps/say/next", "closes the cycle choose"),
        .init("/steps/wait/timeout", nil, at: "/steps/wait", "needs \"timeout\""),
        .init("/steps/wait/timeout", "\"P1M\"", "counts months"),
        .init("/steps/wait/timeout", "{\"ref\": \"/trigger/product_id\"}", "This is an instant"),
        .init("/steps/wait/timeout", "5", "This is an instant"),
        .init("/steps/wait/on_timout", "\"choose\"", "is not one of", fix: "on_timeout"),
        .init("/steps/wait/next", "\"choose\"", "A wait_until step has no \"next\""),
        .init(
            "/steps/wait/branches/0/id", "\"known\"", at: "/steps/wait/branches/1/id",
            "stands twice"),
        .init("/steps/wait/branches/0/id", "\"on_timeout\"", "or is one of"),
        .init(
            "/steps/wait/branches/0/event", "\"trial.converted\"", "so this branch is never taken"),
        .init("/steps/wait/branches/0/event", nil, at: "/steps/wait/branches/0", "exactly one of"),
        .init("/steps/wait/branches/0/correlate", "\"no\"", "is true or false"),
        .init(
            "/steps/wait/branches/1/unless", "{\"exists\": {\"ref\": \"/now\"}}", "belongs beside"),
        .init("/steps/wait/since", "\"start\"", "\"step\", \"run\" or {\"step\": id}"),
        .init("/steps/wait/since", "{\"step\": \"pose\"}", at: "/steps/wait/since/step", "no step"),
        .init("/steps/choose/else", nil, at: "/steps/choose", "needs \"else\""),
        .init("/steps/choose/branches", "[]", "is empty"),
        .init("/steps/choose/branches/0/where", "{}", "is not one of a branch"),
    ]

    static let actions: [BadDefinition] = [
        .init("/steps/tell/tool", "\"email\"", "not supported by this version yet"),
        .init("/steps/tell/tool", "\"htp\"", "is not a tool", fix: "http"),
        .init("/steps/tell/tool", "\"grant_entitlement\"", "never grants it"),
        .init("/steps/tell/message", "\"a/b\"", "not supported by this version yet"),
        .init("/steps/tell/gap", "\"P31D\"", "is from PT0S to P30D"),
        .init("/steps/tell/account", nil, at: "/steps/tell", "needs \"account\""),
        .init("/steps/tell/account", "\"My CRM\"", "a name of the configuration's accounts"),
        .init("/steps/say/account", "\"crm\"", "takes no account"),
        .init("/steps/tell/with", nil, at: "/steps/tell", "needs \"with\""),
        .init(
            "/steps/tell/with/url", "\"https://a.example\"", at: "/steps/tell/with",
            "exactly one of"),
        .init("/steps/tell/with/path", "\"people\"", "begins with a slash"),
        .init("/steps/tell/with/path", "7", "a text or a value"),
        .init("/steps/tell/with/method", "\"post\"", "The method is POST", fix: "POST"),
        .init("/steps/tell/with/method", "\"GET\"", at: "/steps/tell/with/json", "has no body"),
        .init("/steps/tell/with/body", "\"x\"", "either \"json\" or \"body\""),
        .init("/steps/tell/with/headers", "[]", "an object of texts"),
        .init("/steps/tell/with/headers/Authorization", "\"Bearer x\"", "holds a secret"),
        .init("/steps/tell/with/headers/Idempotency-Key", "\"x\"", "written by the worker"),
        .init(
            "/steps/tell/with/headers", "{\"X Y\": \"x\"}", at: "/steps/tell/with/headers/X Y",
            "not a header's name"),
        .init("/steps/tell/with/jsn", "{}", "is not one of the \"with\" of http", fix: "json"),
        .init("/steps/say/with/level", "\"warn\"", "The level is debug"),
        .init("/steps/say/with/text", nil, at: "/steps/say/with", "needs \"text\""),
        .init("/steps/tell/attempt_timeout", "\"PT10M\"", "is from PT1S to PT5M"),
        .init("/steps/tell/deadline", "\"PT5S\"", "is shorter than one attempt"),
        .init("/steps/tell/retry/attempts", "21", "a whole number from 1 to 20"),
        .init("/steps/tell/retry/factor", "0.5", "a number from 1 to 10"),
        .init("/steps/tell/retry/backoff", "\"PT2H\"", "is longer than its max"),
        .init(
            "/steps/tell/retry/on", "[\"500\"]", at: "/steps/tell/retry/on/0",
            "A cause of a retry is timeout"),
        .init(
            "/steps/tell/retry/on", "[\"429\", \"429\"]", at: "/steps/tell/retry/on/1",
            "stands twice"),
        .init("/steps/tell/retry/tries", "3", "is not one of a retry"),
        .init("/steps/tell/on_failed", "\"quitt\"", "There is no step", fix: "quit"),
    ]
}
