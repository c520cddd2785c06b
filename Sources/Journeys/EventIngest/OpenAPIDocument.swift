/// `/openapi.json`: what the ingest listener answers, for people and their tools.
package let openAPIDocument: [UInt8] = PackageResources.openapi_json
