package import JSON
package import JourneyModel
package import TimeZones

/// What pointers of a definition read, by the first token of the pointer.
package struct Scope: Sendable {
    /// `/event`: the event under test, else the one last bound; nil where there is none.
    package var event: JSONObject?
    /// `/event/raw`: the provider's object, while an event is under test.
    package var raw: JSONValue?
    package var trigger: JSONObject?
    package var customer: JSONObject
    /// `/subscription`: the state of the trigger's subscription; nil where there is none.
    package var subscription: JSONObject?
    /// `/features`, each as ``FeatureAnswer/json`` shows it.
    package var features: JSONObject
    package var steps: JSONObject
    package var run: JSONObject
    package var now: Instant

    package init(
        event: JSONObject? = nil, raw: JSONValue? = nil, trigger: JSONObject? = nil,
        customer: JSONObject = JSONObject(), subscription: JSONObject? = nil,
        features: JSONObject = JSONObject(), steps: JSONObject = JSONObject(),
        run: JSONObject = JSONObject(), now: Instant
    ) {
        self.event = event
        self.raw = raw
        self.trigger = trigger
        self.customer = customer
        self.subscription = subscription
        self.features = features
        self.steps = steps
        self.run = run
        self.now = now
    }

    /// The scope of something that is decided before there is a run: an entry's filters, an audience, a
    /// segment.
    ///
    /// - Parameters:
    ///   - event: the event under test; nil where nothing happened but time.
    ///   - subscription: which one `/subscription` is; that of the event when left out.
    package init(_ facts: Facts, testing event: Event? = nil, subscription: SubscriptionID? = nil) {
        let shown = event?.scope
        let subscription = subscription ?? shown.flatMap { SubscriptionID(scope: $0) }
        self.init(
            event: shown, raw: event?.raw, trigger: shown, customer: facts.attributes,
            subscription: subscription.flatMap { facts.subscriptions[$0] },
            features: facts.featureScope, now: facts.now)
    }

    /// The value at `pointer`, or nil when there is none (*missing*, which is not null).
    package func value(at pointer: JSONPointer) -> JSONValue? {
        guard let root = pointer.tokens.first else { return nil }
        let rest = JSONPointer(tokens: Array(pointer.tokens.dropFirst()))
        switch root {
        case "event":
            if rest.tokens.first == "raw" {
                return raw.flatMap {
                    JSONPointer(tokens: Array(rest.tokens.dropFirst())).resolve(in: $0)
                }
            }
            return event.flatMap { rest.resolve(in: .object($0)) }
        case "trigger": return trigger.flatMap { rest.resolve(in: .object($0)) }
        case "customer": return rest.resolve(in: .object(customer))
        case "subscription": return subscription.flatMap { rest.resolve(in: .object($0)) }
        case "features": return rest.resolve(in: .object(features))
        case "steps": return rest.resolve(in: .object(steps))
        case "run": return rest.resolve(in: .object(run))
        case "now": return rest.tokens.isEmpty ? .string(now.description) : nil
        default: return nil
        }
    }

    /// The scope as one object, for templates; without `/event/raw`.
    package var object: JSONObject {
        var object = JSONObject([
            ("customer", .object(customer)), ("features", .object(features)),
            ("steps", .object(steps)), ("run", .object(run)), ("now", .string(now.description)),
        ])
        object["event"] = event.map { .object($0) }
        object["trigger"] = trigger.map { .object($0) }
        object["subscription"] = subscription.map { .object($0) }
        return object
    }
}

extension Facts {
    /// `/features`.
    var featureScope: JSONObject {
        recordedFeatures
            ?? JSONObject(
                features.sorted { $0.key < $1.key }
                    .compactMap { id, feature in feature.own.map { (id, .object($0.json)) } })
    }
}
